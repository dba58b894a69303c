import { isNotFound } from '@tinkernetes/apimachinery';

interface SystemError {
  code?: string;
  address?: string;
  port?: number;
  hostname?: string;
}

/** Why a connection failed, in the words of Go's net package: scripts and people look for them. */
export function describeDialError(error: unknown): string {
  const { code, address = '', port = 0, hostname = '' } = systemErrorOf(error);
  const target = `${address.includes(':') ? `[${address}]` : address}:${port}`;
  switch (code) {
    case 'ECONNREFUSED':
      return `dial tcp ${target}: connect: connection refused`;
    case 'EHOSTUNREACH':
      return `dial tcp ${target}: connect: no route to host`;
    case 'ETIMEDOUT':
      return `dial tcp ${target}: i/o timeout`;
    case 'ENOTFOUND':
      return `dial tcp: lookup ${hostname}: no such host`;
    case 'EAI_AGAIN':
      return `dial tcp: lookup ${hostname}: server misbehaving`;
    case 'ECONNRESET':
      return 'EOF';
    case 'SELF_SIGNED_CERT_IN_CHAIN':
    case 'DEPTH_ZERO_SELF_SIGNED_CERT':
    case 'UNABLE_TO_VERIFY_LEAF_SIGNATURE':
      return 'tls: failed to verify certificate: x509: certificate signed by unknown authority';
    default:
      if (isNotFound(error)) return `service "${error.details?.name ?? ''}" not found`;
      return error instanceof Error ? error.message : String(error);
  }
}

/** What the network said, also where somebody has wrapped it. */
function systemErrorOf(error: unknown): SystemError {
  const { code, cause } = (error ?? {}) as SystemError & { cause?: SystemError };
  return typeof code === 'string' ? (error as SystemError) : ((cause ?? {}) as SystemError);
}
