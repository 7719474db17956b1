"""The third judge: certificates that the kernel of Coq (Rocq) accepts."""
