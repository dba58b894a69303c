import type { Address } from '@tinkernetes/vnet';
import { formatAddress, parseAddress } from './ipv4';
import type { Packet } from './net-namespace';

/** `TK`, version 1, then source and destination: what a TCP stream between two nodes begins with, and each datagram. */
export const headerLength = 16;
const magic = 0x544b;
const version = 1;

export function encodeHeader(source: Address, destination: Address): Buffer {
  const header = Buffer.alloc(headerLength);
  header.writeUInt16BE(magic, 0);
  header.writeUInt8(version, 2);
  header.writeUInt32BE(parseAddress(source.host) ?? 0, 4);
  header.writeUInt16BE(source.port, 8);
  header.writeUInt32BE(parseAddress(destination.host) ?? 0, 10);
  header.writeUInt16BE(destination.port, 14);
  return header;
}

export function decodeHeader(bytes: Buffer): { source: Address; destination: Address } | undefined {
  if (bytes.length < headerLength || bytes.readUInt16BE(0) !== magic || bytes.readUInt8(2) !== version)
    return undefined;
  return {
    source: { host: formatAddress(bytes.readUInt32BE(4)), port: bytes.readUInt16BE(8) },
    destination: { host: formatAddress(bytes.readUInt32BE(10)), port: bytes.readUInt16BE(14) },
  };
}

export function encodePacket({ source, destination, data }: Packet): Buffer {
  return Buffer.concat([encodeHeader(source, destination), data]);
}

export function decodePacket(bytes: Buffer): Packet | undefined {
  const header = decodeHeader(bytes);
  return header && { ...header, data: bytes.subarray(headerLength) };
}

/** The peer's one-byte answer to a stream's header. */
export const streamAnswer = { open: 0, ECONNREFUSED: 1, EHOSTUNREACH: 2, ETIMEDOUT: 3 } as const;
