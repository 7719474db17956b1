(** * The fixed library under every certificate of symres

    Finite sums over [i < n] as a Fixpoint, and rules for derivatives along a curve. The certificates state and prove
    everything else. Needs Coq 8.16 or newer and Coquelicot 3. *)

From Coq Require Import Reals Lra Lia List.
From Coq Require FunctionalExtensionality.
From Coquelicot Require Import Coquelicot.
Import ListNotations.
Open Scope R_scope.

(** ** Finite sums *)

(** The sum of [f i] over [0 <= i < n]. *)
Fixpoint sum (n : nat) (f : nat -> R) : R :=
  match n with O => 0 | S k => sum k f + f k end.

Lemma sum_ext n f g : (forall i, (i < n)%nat -> f i = g i) -> sum n f = sum n g.
Proof.
  induction n; simpl; intros H; [reflexivity|].
  rewrite IHn, (H n) by auto. reflexivity.
Qed.

Lemma sum_plus n f g : sum n (fun i => f i + g i) = sum n f + sum n g.
Proof. induction n; simpl; [ring | rewrite IHn; ring]. Qed.

Lemma sum_scal n c f : sum n (fun i => c * f i) = c * sum n f.
Proof. induction n; simpl; [ring | rewrite IHn; ring]. Qed.

Lemma sum_one n : sum n (fun _ => 1) = INR n.
Proof. induction n; [reflexivity|]. rewrite S_INR; simpl; rewrite IHn; ring. Qed.

Lemma sum_zero n f : (forall i, (i < n)%nat -> f i = 0) -> sum n f = 0.
Proof. intros H. rewrite (sum_ext n f (fun _ => 0 * 1)) by (intros; rewrite H by assumption; ring).
  rewrite sum_scal; ring. Qed.

(** Sums over two indices may be exchanged. *)
Lemma sum_swap m n (f : nat -> nat -> R) :
  sum m (fun b => sum n (fun i => f b i)) = sum n (fun i => sum m (fun b => f b i)).
Proof.
  induction m; simpl.
  - symmetry; apply sum_zero; reflexivity.
  - rewrite IHm, <- sum_plus. reflexivity.
Qed.

(** A factor that is free of the index goes into the sum, and out of it. *)
Lemma sum_factor n c f g : (forall i, (i < n)%nat -> f i * c = g i) -> sum n f * c = sum n g.
Proof. intros H. rewrite Rmult_comm, <- sum_scal. apply sum_ext; intros; rewrite <- H by assumption; ring. Qed.

(** Kronecker's delta, and the sum that it picks one term from. *)
Definition delta (i k : nat) : R := if Nat.eqb i k then 1 else 0.

Lemma delta_idem i k : delta i k * delta i k = delta i k.
Proof. unfold delta; destruct (Nat.eqb i k); ring. Qed.

Lemma delta_sym i k : delta i k = delta k i.
Proof. unfold delta; now rewrite Nat.eqb_sym. Qed.

Lemma delta_same i : delta i i = 1.
Proof. unfold delta; now rewrite Nat.eqb_refl. Qed.

Lemma sum_delta n k f : (k < n)%nat -> sum n (fun i => delta i k * f i) = f k.
Proof.
  assert (Z : forall m, (m <= k)%nat -> sum m (fun i => delta i k * f i) = 0).
  { intros m Hm. apply sum_zero. intros i Hi. unfold delta.
    replace (Nat.eqb i k) with false by (symmetry; apply Nat.eqb_neq; lia). ring. }
  induction n; [lia|]. intros Hk. simpl.
  destruct (Nat.eq_dec n k) as [->|Hn].
  - rewrite Z, delta_same by lia. ring.
  - rewrite IHn by lia. unfold delta at 1.
    replace (Nat.eqb n k) with false by (symmetry; apply Nat.eqb_neq; lia). ring.
Qed.

(** A mask from an order of indices: 1 if [k <= i], otherwise 0. *)
Definition at_most (k i : nat) : R := if Nat.leb k i then 1 else 0.

Lemma at_most_idem k i : at_most k i * at_most k i = at_most k i.
Proof. unfold at_most; destruct (Nat.leb k i); ring. Qed.

Lemma at_most_nonneg k i : 0 <= at_most k i.
Proof. unfold at_most; destruct (Nat.leb k i); lra. Qed.

(** The lemma that carries the algebra: a summand given as a linear combination [sum_k c_k * m_k i], with [c_k] free
    of [i], has the same combination of sums. *)
Fixpoint combination (l : list (R * (nat -> R))) (i : nat) : R :=
  match l with nil => 0 | (c, m) :: rest => c * m i + combination rest i end.

Fixpoint sums (n : nat) (l : list (R * (nat -> R))) : R :=
  match l with nil => 0 | (c, m) :: rest => c * sum n m + sums n rest end.

Lemma sum_combination n l f :
  (forall i, (i < n)%nat -> f i = combination l i) -> sum n f = sums n l.
Proof.
  intros H. rewrite (sum_ext _ _ _ H). clear H f.
  induction l as [|[c m] l IH]; simpl.
  - apply sum_zero; reflexivity.
  - rewrite sum_plus, sum_scal, IH. reflexivity.
Qed.

(** The largest of the [f i] with [i < n], for [n >= 1]. *)
Fixpoint maximum (n : nat) (f : nat -> R) : R :=
  match n with O => 0 | S O => f O | S k => Rmax (maximum k f) (f k) end.

(** ** Signs *)

Lemma size_pos n : (1 <= n)%nat -> 0 < INR n.
Proof. intros; apply lt_0_INR; lia. Qed.

Lemma size_nonneg n : 0 <= INR n.
Proof. apply pos_INR. Qed.

Lemma size_minus_pos n k : (S k <= n)%nat -> 0 < INR n - INR k.
Proof. intros H. apply lt_INR in H. lra. Qed.

Lemma pos_nonneg a : 0 < a -> 0 <= a.
Proof. lra. Qed.

Lemma pos_nonzero a : 0 < a -> a <> 0.
Proof. lra. Qed.

Lemma sum_nonneg n f : (forall i, (i < n)%nat -> 0 <= f i) -> 0 <= sum n f.
Proof.
  induction n; simpl; intros H; [lra|].
  assert (0 <= f n) by (apply H; lia).
  assert (0 <= sum n f) by (apply IHn; intros; apply H; lia). lra.
Qed.

Lemma sum_pos n f : (1 <= n)%nat -> (forall i, (i < n)%nat -> 0 < f i) -> 0 < sum n f.
Proof.
  destruct n; [lia|]. simpl; intros _ H.
  assert (0 < f n) by (apply H; lia).
  assert (0 <= sum n f) by (apply sum_nonneg; intros; left; apply H; lia). lra.
Qed.

(** A masked sum of positive numbers is positive where the mask leaves at least one. *)
Lemma sum_masked_pos n k f : (k < n)%nat -> (forall i, (i < n)%nat -> 0 < f i) -> 0 < sum n (fun i => at_most i k * f i).
Proof.
  intros Hk H.
  assert (G : sum n (fun i => delta i k * f i) <= sum n (fun i => at_most i k * f i)).
  { clear Hk. induction n; simpl; [lra|].
    assert (sum n (fun i => delta i k * f i) <= sum n (fun i => at_most i k * f i)) by (apply IHn; intros; apply H; lia).
    assert (0 < f n) by (apply H; lia).
    assert (delta n k <= at_most n k).
    { unfold delta, at_most. destruct (Nat.eqb_spec n k), (Nat.leb_spec n k); (lra || lia). }
    nra. }
  rewrite sum_delta in G by assumption. pose proof (H k Hk). lra.
Qed.

Lemma square_nonneg a : 0 <= a * a.
Proof. apply Rle_0_sqr. Qed.

Lemma even_pow_nonneg a n : 0 <= a ^ (2 * n).
Proof. rewrite pow_mult. apply pow_le, pow2_ge_0. Qed.

Lemma pow_pos a n : 0 < a -> 0 < a ^ n.
Proof. apply pow_lt. Qed.

Lemma pow_nonneg a n : 0 <= a -> 0 <= a ^ n.
Proof. apply pow_le. Qed.

Lemma plus_pos_pos a b : 0 < a -> 0 < b -> 0 < a + b.
Proof. lra. Qed.

Lemma plus_pos_nonneg a b : 0 < a -> 0 <= b -> 0 < a + b.
Proof. lra. Qed.

Lemma plus_nonneg_pos a b : 0 <= a -> 0 < b -> 0 < a + b.
Proof. lra. Qed.

Lemma plus_nonneg a b : 0 <= a -> 0 <= b -> 0 <= a + b.
Proof. lra. Qed.

Lemma mult_pos a b : 0 < a -> 0 < b -> 0 < a * b.
Proof. apply Rmult_lt_0_compat. Qed.

Lemma mult_nonneg a b : 0 <= a -> 0 <= b -> 0 <= a * b.
Proof. apply Rmult_le_pos. Qed.

Lemma inv_pos a : 0 < a -> 0 < / a.
Proof. apply Rinv_0_lt_compat. Qed.

Lemma inv_nonneg a : 0 < a -> 0 <= / a.
Proof. intros; left; now apply Rinv_0_lt_compat. Qed.

Lemma inv_nonzero a : a <> 0 -> / a <> 0.
Proof. apply Rinv_neq_0_compat. Qed.

Lemma mult_nonzero a b : a <> 0 -> b <> 0 -> a * b <> 0.
Proof. intros; now apply Rmult_integral_contrapositive_currified. Qed.

Lemma pow_nonzero a n : a <> 0 -> a ^ n <> 0.
Proof. apply pow_nonzero. Qed.

Lemma opp_nonzero a : a <> 0 -> - a <> 0.
Proof. apply Ropp_neq_0_compat. Qed.

Lemma sqrt_pos_pos a : 0 < a -> 0 < sqrt a.
Proof. apply sqrt_lt_R0. Qed.

Lemma sqrt_nonneg a : 0 <= sqrt a.
Proof. apply sqrt_pos. Qed.

(** The square root of a negative number is 0 in Coq. *)
Lemma square_of_root a : sqrt a <> 0 -> sqrt a * sqrt a = a.
Proof.
  intros N. apply sqrt_def. destruct (Rle_lt_dec 0 a) as [|H]; [assumption|].
  contradiction N. apply sqrt_neg_0. lra.
Qed.

Lemma sqrt_content m a : 0 < m -> sqrt (m * m * a) = m * sqrt a.
Proof. intros H. rewrite sqrt_mult_alt by nra. rewrite sqrt_square by lra. reflexivity. Qed.

(** ** Elementwise functions *)

(** 1 if [a > 0], otherwise 0; the rectified linear unit is [a * step a]. *)
Definition step (a : R) : R := if Rle_dec a 0 then 0 else 1.

Definition logistic (a : R) : R := / (1 + exp (- a)).

Lemma step_idem a : step a * step a = step a.
Proof. unfold step; destruct (Rle_dec a 0); ring. Qed.

Lemma step_nonneg a : 0 <= step a.
Proof. unfold step; destruct (Rle_dec a 0); lra. Qed.

Lemma logistic_pos a : 0 < logistic a.
Proof. unfold logistic. apply inv_pos, plus_pos_pos; [lra | apply exp_pos]. Qed.

Lemma exp_opp a : exp (- a) = / exp a.
Proof. apply exp_Ropp. Qed.

Lemma exp_times n k a : k = INR n -> exp (k * a) = exp a ^ n.
Proof.
  intros ->. induction n; [simpl; rewrite Rmult_0_l; apply exp_0|].
  rewrite S_INR. replace ((INR n + 1) * a) with (a + INR n * a) by ring.
  rewrite exp_plus, IHn. reflexivity.
Qed.

Lemma ln_times_exp r a : 0 < r -> ln (r * exp a) = ln r + a.
Proof. intros H. rewrite ln_mult, ln_exp by (assumption || apply exp_pos). reflexivity. Qed.

(** ** Derivatives along a curve: [f] is a function of the curve's parameter, [a] its derivative at [t] *)

Lemma is_derive_eq (f : R -> R) (t a b : R) : is_derive f t a -> a = b -> is_derive f t b.
Proof. intros H <-. exact H. Qed.

Lemma D_sum n (f : nat -> R -> R) (t : R) (a : nat -> R) :
  (forall i, (i < n)%nat -> is_derive (f i) t (a i)) -> is_derive (fun u => sum n (fun i => f i u)) t (sum n a).
Proof.
  induction n; simpl; intros H.
  - apply @is_derive_const.
  - apply @is_derive_plus; [apply IHn; intros; apply H; lia | apply H; lia].
Qed.

Lemma D_const (c t : R) : is_derive (fun _ : R => c) t 0.
Proof. apply @is_derive_const. Qed.

Lemma D_add (f g : R -> R) t a b : is_derive f t a -> is_derive g t b -> is_derive (fun u => f u + g u) t (a + b).
Proof. intros; apply @is_derive_plus; assumption. Qed.

Lemma D_opp (f : R -> R) t a : is_derive f t a -> is_derive (fun u => - f u) t (- a).
Proof. intros; apply @is_derive_opp; assumption. Qed.

Lemma D_mul (f g : R -> R) t a b :
  is_derive f t a -> is_derive g t b -> is_derive (fun u => f u * g u) t (a * g t + f t * b).
Proof. intros; apply @is_derive_mult; [assumption | assumption | intros; apply Rmult_comm]. Qed.

Lemma D_comp (h f : R -> R) t a b : is_derive f t a -> is_derive h (f t) b -> is_derive (fun u => h (f u)) t (b * a).
Proof.
  intros Hf Hh. eapply is_derive_eq; [apply (is_derive_comp h f t b a Hh Hf)|].
  unfold scal; simpl; unfold mult; simpl; ring.
Qed.

(** Powers. The number [k] is the exponent as a real number, so that certificates write it as a numeral. *)
Lemma D_pow (f : R -> R) t a n k :
  k = INR (S n) -> is_derive f t a -> is_derive (fun u => f u ^ S n) t (k * f t ^ n * a).
Proof.
  intros -> H. eapply is_derive_eq; [apply (is_derive_pow f (S n) t a H)|]. simpl pred. ring.
Qed.

Lemma D_inv_pow (f : R -> R) t a n k :
  k = INR (S n) -> f t <> 0 -> is_derive f t a -> is_derive (fun u => / f u ^ S n) t (- k * / f t ^ S (S n) * a).
Proof.
  intros -> N H. eapply is_derive_eq.
  - apply (is_derive_inv (fun u => f u ^ S n) t); [apply (D_pow f t a n _ eq_refl H) | now apply pow_nonzero].
  - cbv beta. simpl pow. field. split; [now apply pow_nonzero | exact N].
Qed.

Lemma D_inv (f : R -> R) t a : f t <> 0 -> is_derive f t a -> is_derive (fun u => / f u) t (- (1) * / f t ^ 2 * a).
Proof.
  intros N H. eapply is_derive_eq; [apply (is_derive_inv f t a H N)|]. field. exact N.
Qed.

Lemma D_sqrt (f : R -> R) t a : 0 < f t -> is_derive f t a -> is_derive (fun u => sqrt (f u)) t (1 / 2 * / sqrt (f t) * a).
Proof.
  intros P H. eapply is_derive_eq; [apply (is_derive_sqrt f t a H P)|].
  field. apply pos_nonzero, sqrt_lt_R0, P.
Qed.

Lemma D_sqrt_pow (f : R -> R) t a n k : k = INR (S (S n)) / 2 ->
  0 < f t -> is_derive f t a -> is_derive (fun u => sqrt (f u) ^ S (S n)) t (k * sqrt (f t) ^ n * a).
Proof.
  intros -> P H. eapply is_derive_eq; [apply (D_pow _ t _ (S n) _ eq_refl (D_sqrt f t a P H))|].
  simpl pow. field. apply pos_nonzero, sqrt_lt_R0, P.
Qed.

Lemma D_inv_sqrt_pow (f : R -> R) t a n k : k = INR (S n) / 2 ->
  0 < f t -> is_derive f t a -> is_derive (fun u => / sqrt (f u) ^ S n) t (- k * / sqrt (f t) ^ S (S (S n)) * a).
Proof.
  intros -> P H. assert (Z : sqrt (f t) <> 0) by (apply pos_nonzero, sqrt_lt_R0, P).
  eapply is_derive_eq; [apply (D_inv_pow _ t _ n _ eq_refl Z (D_sqrt f t a P H))|].
  simpl pow. field. split; [now apply pow_nonzero | exact Z].
Qed.

Lemma D_inv_sqrt (f : R -> R) t a : 0 < f t -> is_derive f t a ->
  is_derive (fun u => / sqrt (f u)) t (- (1 / 2) * / sqrt (f t) ^ 3 * a).
Proof.
  intros P H. assert (Z : sqrt (f t) <> 0) by (apply pos_nonzero, sqrt_lt_R0, P).
  eapply is_derive_eq; [apply (D_inv _ t _ Z (D_sqrt f t a P H))|]. field. exact Z.
Qed.

Lemma D_exp (f : R -> R) t a : is_derive f t a -> is_derive (fun u => exp (f u)) t (exp (f t) * a).
Proof. intros H. apply (D_comp exp f); [exact H | apply is_derive_exp]. Qed.

Lemma D_ln (f : R -> R) t a : 0 < f t -> is_derive f t a -> is_derive (fun u => ln (f u)) t (/ f t * a).
Proof. intros P H. apply (D_comp ln f); [exact H | apply is_derive_ln, P]. Qed.

Lemma cosh_nonzero a : cosh a <> 0.
Proof. unfold cosh. pose proof (exp_pos a); pose proof (exp_pos (- a)). lra. Qed.

Lemma D_tanh (f : R -> R) t a : is_derive f t a -> is_derive (fun u => tanh (f u)) t ((1 + - tanh (f t) ^ 2) * a).
Proof.
  intros H. apply (D_comp tanh f); [exact H|]. set (y := f t). pose proof (cosh_nonzero y) as N.
  assert (Hs : is_derive sinh y (cosh y)).
  { unfold sinh, cosh. auto_derive; [trivial|]. field. }
  assert (Hc : is_derive cosh y (sinh y)).
  { unfold sinh, cosh. auto_derive; [trivial|]. field. }
  eapply is_derive_eq; [apply (is_derive_div sinh cosh y _ _ Hs Hc N)|].
  unfold tanh. field. exact N.
Qed.

Lemma D_logistic (f : R -> R) t a : is_derive f t a ->
  is_derive (fun u => logistic (f u)) t (logistic (f t) * (1 + - logistic (f t)) * a).
Proof.
  intros H. assert (P : 0 < 1 + exp (- f t)) by (apply plus_pos_pos; [lra | apply exp_pos]).
  unfold logistic. eapply is_derive_eq.
  - apply (D_inv (fun u => 1 + exp (- f u))); [lra|].
    apply (D_add (fun _ => 1) (fun u => exp (- f u))); [apply D_const|]. apply (D_exp (fun u => - f u)), D_opp, H.
  - cbv beta. field. lra.
Qed.

Lemma D_sin (f : R -> R) t a : is_derive f t a -> is_derive (fun u => sin (f u)) t (cos (f t) * a).
Proof. intros H. apply (D_comp sin f); [exact H | apply is_derive_sin]. Qed.

Lemma D_cos (f : R -> R) t a : is_derive f t a -> is_derive (fun u => cos (f u)) t (- sin (f t) * a).
Proof. intros H. apply (D_comp cos f); [exact H | apply is_derive_cos]. Qed.

(** Off its jump the step function is locally constant. *)
Lemma D_step (f : R -> R) t a : f t <> 0 -> is_derive f t a -> is_derive (fun u => step (f u)) t 0.
Proof.
  intros N H. eapply is_derive_eq with (a := 0 * a); [|ring].
  apply (D_comp step f); [exact H|]. set (y := f t) in *.
  apply (is_derive_ext_loc (fun _ => step y)); [|apply D_const].
  unfold step. destruct (Rle_dec y 0) as [L|L].
  - apply (locally_interval _ y m_infty 0); simpl; [trivial | lra |].
    intros z _ Hz. simpl in Hz. destruct (Rle_dec z 0); lra.
  - apply (locally_interval _ y 0 p_infty); simpl; [lra | trivial |].
    intros z Hz _. simpl in Hz. destruct (Rle_dec z 0); lra.
Qed.

(** Closes the equation between a derivative as the rules above give it and as it is written. *)
Ltac tangent :=
  unfold Rdiv; first [ring | field; repeat split; first [assumption | apply pos_nonzero, sqrt_lt_R0; assumption]
    | repeat match goal with |- context [sum ?n ?f] =>
        rewrite (sum_zero n f) by (intros; repeat (apply sum_zero; intros); ring) end; ring].

(** A curve that is a straight line, and where it stands at 0. *)
Lemma D_line (a v t : R) : is_derive (fun u => a + u * v) t v.
Proof. auto_derive; [trivial | ring]. Qed.

Ltac line_at_zero := repeat (apply FunctionalExtensionality.functional_extensionality; intro); ring.

(** Replaces parts of an expression by the equation [H], which may ask for ranges of indices. *)
Ltac congruent H :=
  first
    [ reflexivity
    | apply H; first [assumption | lia]
    | apply sum_ext; intros ? ?; congruent H
    | apply (f_equal2 Rplus); congruent H
    | apply (f_equal2 Rminus); congruent H
    | apply (f_equal2 Rmult); congruent H
    | apply (f_equal2 Rdiv); congruent H
    | apply (f_equal Ropp); congruent H ].

(** ** Stacks of any depth

    [V] is the space of states, [pair] an inner product, [curve c t v] says that the curve [c] passes [t] with velocity
    [v]. Layer [l] maps [x] to [F l x]; [J l x v] is its derivative in direction [v], [B l x g] its backward pass, both
    at states in [ok l]. *)
Section Depth.
Variables (V : Type) (pair : V -> V -> R) (curve : (R -> V) -> R -> V -> Prop).
Variables (F : nat -> V -> V) (J B : nat -> V -> V -> V) (ok : nat -> V -> Prop).

(** The state before layer [l], and the pushed and pulled directions. *)
Fixpoint state (l : nat) (x : V) : V := match l with O => x | S k => F k (state k x) end.
Fixpoint pushed (l : nat) (x v : V) : V := match l with O => v | S k => J k (state k x) (pushed k x v) end.
Fixpoint pulled (l : nat) (x g : V) : V := match l with O => g | S k => pulled k x (B k (state k x) g) end.

Hypothesis layer_derivative : forall l c t v, ok l (c t) -> curve c t v -> curve (fun u => F l (c u)) t (J l (c t) v).
Hypothesis layer_backward : forall l x v g, ok l x -> pair g (J l x v) = pair (B l x g) v.

Lemma stack_derivative L c t v : (forall l, (l < L)%nat -> ok l (state l (c t))) -> curve c t v ->
  curve (fun u => state L (c u)) t (pushed L (c t) v).
Proof.
  induction L; simpl; intros H Hc; [exact Hc|].
  apply (layer_derivative L (fun u => state L (c u))); [apply H; lia|]. apply IHL; [|exact Hc]. intros; apply H; lia.
Qed.

Lemma stack_pulled L x v g : (forall l, (l < L)%nat -> ok l (state l x)) ->
  pair g (pushed L x v) = pair (pulled L x g) v.
Proof.
  revert g. induction L; simpl; intros g H; [reflexivity|].
  rewrite layer_backward by (apply H; lia). apply IHL. intros; apply H; lia.
Qed.
End Depth.
