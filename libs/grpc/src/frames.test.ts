import { FrameReader, frameOf } from './frames';
import { readStatusMessage, statusMessage, timeoutHeader, timeoutOf } from './http2-headers';

describe('FrameReader', () => {
  const texts = ['one', '', 'x'.repeat(300), 'last'];
  const bytes = Buffer.concat(texts.map((text) => frameOf(Buffer.from(text))));

  it.each([1, 2, 3, 5, 7, 64, 1000])('finds the messages in pieces of %d bytes', (size) => {
    const reader = new FrameReader(1000);
    const found: string[] = [];
    for (let at = 0; at < bytes.length; at += size)
      found.push(...reader.push(bytes.subarray(at, at + size)).map(String));
    expect(found).toEqual(texts);
    expect(reader.isWithin).toBe(false);
  });

  it('knows when a message has not ended', () => {
    const reader = new FrameReader(1000);
    reader.push(bytes.subarray(0, -1));
    expect(reader.isWithin).toBe(true);
  });

  it.each<[string, number[], string]>([
    ['longer than allowed', [0, 0, 0, 4, 1], 'RESOURCE_EXHAUSTED'],
    ['compressed', [1, 0, 0, 0, 0], 'INTERNAL'],
  ])('refuses a message that is %s', (_, head, status) => {
    const push = () => new FrameReader(1024).push(Buffer.from(head));
    expect(push).toThrow(expect.objectContaining({ status }) as Error);
  });
});

describe('headers', () => {
  it.each(['plain text', '100 %', 'not found: "größe"\n日本', ''])('carry the message %j', (text) => {
    const sent = statusMessage(text);
    expect(sent).toMatch(/^[\x20-\x7e]*$/);
    expect(readStatusMessage(sent)).toBe(text);
  });

  it('leave a message as it came when it is not encoded', () => {
    expect(readStatusMessage('100%')).toBe('100%');
  });

  it.each<[number, string]>([
    [0.2, '1m'],
    [1500, '1500m'],
    [100_000_000, '100000S'],
  ])('tell a timeout of %d ms as %s', (ms, header) => {
    expect(timeoutHeader(ms)).toBe(header);
    expect(timeoutOf({ 'grpc-timeout': header })).toBe(Math.ceil(ms));
  });

  it.each([undefined, '', '5', 'm', '-1S', '123456789S'])('take %j for no timeout', (header) => {
    expect(timeoutOf({ 'grpc-timeout': header })).toBeUndefined();
  });
});
