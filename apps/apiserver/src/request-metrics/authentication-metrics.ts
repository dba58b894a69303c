import { counts } from './series';

const namedUsers: ReadonlySet<string> = new Set([
  'admin',
  'client',
  'kube_proxy',
  'kubelet',
  'system:serviceaccount:kube-system:default',
]);

/** A few names stand for all, so that users don't make series. */
function compressed(user: string): string {
  if (namedUsers.has(user)) return user;
  return user.includes('@') ? 'email_id' : 'other';
}

/** Source: k8s.io/apiserver/pkg/endpoints/filters/metrics.go. */
export class AuthenticationMetrics {
  private readonly attempts = counts('authentication_attempts', 'Counter of authenticated attempts.');
  private readonly users = counts(
    'authenticated_user_requests',
    'Counter of authenticated requests broken out by username.',
  );
  private readonly success = this.attempts.with({ result: 'success' });
  private readonly others = this.users.with({ username: 'other' });

  succeeded(user: string): void {
    this.success.value += 1;
    const name = compressed(user);
    const count = name === 'other' ? this.others : this.users.with({ username: name });
    count.value += 1;
  }

  /** `failure`: no credentials were given; `error`: those that were given are not good. */
  failed(result: 'failure' | 'error'): void {
    this.attempts.with({ result }).value += 1;
  }

  expose(): string {
    return [this.users.expose(), this.attempts.expose()].join('\n');
  }
}
