import type { Readable } from 'node:stream';
import type { RemoteCommandStreams, TerminalSize } from '../types';

/** Sizes arrive as a sequence of JSON objects `{"Width":80,"Height":24}`, with or without line feeds between them. */
export function resizeListener(source: Readable | undefined): RemoteCommandStreams['onResize'] {
  const listeners: ((size: TerminalSize) => void)[] = [];
  let last: TerminalSize | undefined;
  let text = '';
  source?.on('data', (chunk: Buffer) => {
    text += chunk.toString('utf8');
    for (let end = text.indexOf('}'); end >= 0; end = text.indexOf('}')) {
      const size = parseSize(text.slice(0, end + 1));
      text = text.slice(end + 1);
      if (!size) continue;
      last = size;
      for (const listener of listeners) listener(size);
    }
  });
  return (listener) => {
    listeners.push(listener);
    if (last) listener(last);
  };
}

function parseSize(text: string): TerminalSize | undefined {
  const width = /"width"\s*:\s*(\d+)/i.exec(text)?.[1];
  const height = /"height"\s*:\s*(\d+)/i.exec(text)?.[1];
  return width && height ? { width: Number(width), height: Number(height) } : undefined;
}
