export function toPem(label: string, der: Buffer): string {
  const lines = der.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join('\n')}\n-----END ${label}-----\n`;
}

/** The bytes of the first block whose label is one of `labels`. Throws where there is none. */
export function fromPem(pem: string, ...labels: readonly string[]): Buffer {
  for (const [, label = '', body = ''] of pem.matchAll(
    /-----BEGIN ([A-Z0-9 ]+)-----([A-Za-z0-9+/=\s]*)-----END \1-----/g,
  )) {
    if (labels.includes(label)) return Buffer.from(body, 'base64');
  }
  throw new Error(`no PEM block of type ${labels[0]}`);
}
