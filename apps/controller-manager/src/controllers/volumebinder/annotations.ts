/** The binding was the controller's choice, and not somebody's who wrote it into the object. */
export const boundByController = 'pv.kubernetes.io/bound-by-controller';

/** Both halves of a claim's binding are written. */
export const bindCompleted = 'pv.kubernetes.io/bind-completed';
