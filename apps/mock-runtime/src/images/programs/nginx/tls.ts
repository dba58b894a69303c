import { X509Certificate } from 'node:crypto';
import type { Socket } from 'node:net';
import { posix } from 'node:path';
import type { Duplex } from 'node:stream';
import { FileError } from '../../../files/file-error';
import type { FileSystem } from '../../../files/file-system';
import type { Server } from './configuration';
import { NginxConfigError } from './directives';

/** Puts TLS over a connection. */
export type Secure = (stream: Duplex) => Duplex;

/** How a server with `listen … ssl` talks to its clients; undefined for one without. Throws NginxConfigError. */
export async function secureOf(fs: FileSystem, { context, listens }: Server): Promise<Secure | undefined> {
  if (!listens.some(({ isTls }) => isTls)) return undefined;
  const certificate = context.value('ssl_certificate');
  const keyFile = context.value('ssl_certificate_key');
  const place = context.own('listen')?.place ?? '';
  if (certificate === undefined || keyFile === undefined)
    throw new NginxConfigError(
      `no "ssl_certificate" is defined for the "listen ... ssl" directive in ${place}`,
    );
  const pair = { cert: readCertificate(fs, certificate), key: read(fs, keyFile, 'key') };
  const { createSecureContext, TLSSocket } = await import('node:tls');
  try {
    const secureContext = createSecureContext(pair);
    // TLSSocket takes any stream, which its types don't know.
    return (stream) => new TLSSocket(stream as Socket, { isServer: true, secureContext });
  } catch (error) {
    const message = `SSL_CTX_use_PrivateKey("${keyFile}") failed (SSL: ${(error as Error).message})`;
    throw new NginxConfigError(message, { cause: error });
  }
}

function readCertificate(fs: FileSystem, path: string): Buffer {
  const cert = read(fs, path, '');
  try {
    new X509Certificate(cert);
  } catch (error) {
    throw new NginxConfigError(`cannot load certificate "${path}": PEM_read_bio_X509_AUX() failed`, {
      cause: error,
    });
  }
  return cert;
}

function read(fs: FileSystem, path: string, what: '' | 'key'): Buffer {
  try {
    return fs.readFile(posix.resolve('/etc/nginx', path));
  } catch (error) {
    if (!(error instanceof FileError)) throw error;
    throw new NginxConfigError(
      `cannot load certificate ${what && `${what} `}"${path}": BIO_new_file() failed (SSL: error:80000002:system library::${error.message})`,
    );
  }
}
