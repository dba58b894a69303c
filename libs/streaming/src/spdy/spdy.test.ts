import fc from 'fast-check';
import { headerDictionary } from './dictionary';
import { controlFrame, dataHeader, FrameParser, words } from './frames';
import { HeaderCodec, type SpdyHeaders } from './header-codec';

describe('SPDY framing', () => {
  it('starts compression from the dictionary that other implementations use', () => {
    const theirs = jest.requireActual<Record<number, Buffer>>(
      'spdy-transport/lib/spdy-transport/protocol/spdy/dictionary',
    );
    expect(headerDictionary().equals(theirs[3] ?? Buffer.alloc(0))).toBe(true);
  });

  it('carries header blocks over one compression stream', async () => {
    const sender = new HeaderCodec();
    const receiver = new HeaderCodec();
    const blocks: SpdyHeaders[] = [
      { streamtype: 'error', port: '80' },
      {},
      { streamtype: 'data', requestid: 'ä'.repeat(5000) },
    ];
    for (const block of blocks) expect(await receiver.decode(await sender.encode(block))).toEqual(block);
    sender.close();
    receiver.close();
  });

  it('finds the same frames however the bytes are cut', () => {
    fc.assert(
      fc.property(
        fc.array(fc.uint8Array({ maxLength: 40 })),
        fc.array(fc.integer({ min: 1, max: 30 })),
        (payloads, cuts) => {
          const frames = payloads.map((payload, i) =>
            i % 2 === 0
              ? Buffer.concat([dataHeader(i + 1, payload.length, i % 4 === 0), payload])
              : controlFrame(6, words(i)),
          );
          const bytes = Buffer.concat(frames);
          const parser = new FrameParser();
          const seen = [];
          let start = 0;
          for (const cut of [...cuts, bytes.length]) {
            seen.push(...parser.push(bytes.subarray(start, start + cut)));
            start = Math.min(bytes.length, start + cut);
          }
          expect(seen).toHaveLength(frames.length);
          for (const [i, frame] of seen.entries()) {
            if (frame.kind === 'data') expect([...frame.payload]).toEqual([...(payloads[i] ?? [])]);
          }
        },
      ),
    );
  });

  it('refuses other versions', () => {
    const frame = controlFrame(1, Buffer.alloc(0));
    frame.writeUInt16BE(0x8002, 0);
    expect(() => [...new FrameParser().push(frame)]).toThrow('not SPDY/3.1');
  });
});
