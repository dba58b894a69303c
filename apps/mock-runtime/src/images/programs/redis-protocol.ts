import type { Reply } from './redis-data';

/** A RESP array of bulk strings, or an inline command; undefined where it is not all there. Throws for what is neither. */
export function parseCommand(text: string): { command: string[]; length: number } | undefined {
  const end = text.indexOf('\r\n');
  if (!text.startsWith('*')) {
    const line = text.indexOf('\n');
    if (line < 0) return undefined;
    return { command: text.slice(0, line).trim().split(/\s+/).filter(Boolean), length: line + 1 };
  }
  if (end < 0) return undefined;
  let at = end + 2;
  const command: string[] = [];
  for (let i = Number(text.slice(1, end)); i > 0; i--) {
    const header = text.indexOf('\r\n', at);
    if (header < 0) return undefined;
    const size = Number(text.slice(at + 1, header));
    if (text[at] !== '$' || !Number.isInteger(size) || size < 0) throw new Error('Protocol error');
    if (text.length < header + 4 + size) return undefined;
    command.push(text.slice(header + 2, header + 2 + size));
    at = header + 4 + size;
  }
  return { command, length: at };
}

/** A reply as it goes over the wire. */
export function encode(reply: Reply): string {
  if (reply === null) return '$-1\r\n';
  if (typeof reply === 'number') return `:${reply}\r\n`;
  if (reply instanceof Error) return `-${reply.message}\r\n`;
  if (typeof reply !== 'string') return `*${reply.length}\r\n${reply.map(encode).join('')}`;
  return reply === 'OK' || reply === 'PONG' ? `+${reply}\r\n` : `$${reply.length}\r\n${reply}\r\n`;
}

/** A command as clients and leaders send it. */
export const encodeCommand = (command: readonly string[]): string =>
  `*${command.length}\r\n${command.map((word) => `$${word.length}\r\n${word}\r\n`).join('')}`;
