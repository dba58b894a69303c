import * as dns from 'dns-packet';
import type { Answer, Packet, Question } from 'dns-packet';
import type { Logger, Random } from '@tinkernetes/component-base';
import type { ClusterResolver } from '../records/resolver';
import type { Forwarder } from './forwarder';

export type Transport = 'udp' | 'tcp';

/** RFC 1035, 4.1.1 (rcode) and RFC 2308. */
const rcode = { success: 0, formatError: 1, serverFailure: 2, nameError: 3, notImplemented: 4 } as const;
type Rcode = (typeof rcode)[keyof typeof rcode];

/** What a resolver without EDNS takes in a datagram; and what we send at most to one with it. */
const plainDatagram = 512;
const largestDatagram = 4096;
/** A CNAME into another cluster name is followed so often. */
const maxAliases = 8;

export interface ResponderDeps {
  resolver: ClusterResolver;
  forwarder: Forwarder;
  random: Random;
  logger: Logger;
  signal: AbortSignal;
}

/** Turns a query message into an answer message. */
export class Responder {
  constructor(private readonly deps: ResponderDeps) {}

  /** Undefined when the message is no query that could be answered. */
  async respond(message: Buffer, transport: Transport): Promise<Buffer | undefined> {
    let query: Packet;
    try {
      query = dns.decode(message);
    } catch (error) {
      this.deps.logger.debug({ err: error }, 'not a DNS message');
      return undefined;
    }
    if (query.type !== 'query') return undefined;
    const [question] = query.questions ?? [];
    if (!question) return encode(query, { code: rcode.formatError });
    if (((query.flags ?? 0) & 0x7800) !== 0) return encode(query, { code: rcode.notImplemented });
    const reply = await this.answer(question, { message, transport });
    if (Buffer.isBuffer(reply)) return reply;
    return fit(query, reply, transport);
  }

  private async answer(
    question: Question,
    raw: { message: Buffer; transport: Transport },
  ): Promise<Reply | Buffer> {
    const { resolver, random } = this.deps;
    const resolution = resolver.resolve(question);
    switch (resolution.kind) {
      case 'foreign':
        return this.forward(raw);
      case 'nxdomain':
        return { code: rcode.nameError, authorities: [resolver.authority()], authoritative: true };
      case 'found': {
        const answers = shuffle(await this.followAliases(question, resolution.answers), random);
        const { additionals } = resolution;
        if (answers.length > 0) return { code: rcode.success, answers, additionals, authoritative: true };
        return { code: rcode.success, authorities: [resolver.authority()], authoritative: true };
      }
    }
  }

  /** An ExternalName's addresses are looked up for the client, as its own resolver would not. */
  private async followAliases(question: Question, answers: Answer[]): Promise<Answer[]> {
    const all = [...answers];
    for (let i = 0; i < maxAliases; i++) {
      const last = all.at(-1);
      if (question.type === 'CNAME' || last?.type !== 'CNAME' || typeof last.data !== 'string') return all;
      const next = { ...question, name: last.data };
      const resolution = this.deps.resolver.resolve(next);
      if (resolution.kind === 'found') all.push(...resolution.answers);
      else return resolution.kind === 'foreign' ? [...all, ...(await this.foreignAnswers(next))] : all;
    }
    return all;
  }

  private async foreignAnswers(question: Question): Promise<Answer[]> {
    const { forwarder, random, signal, logger } = this.deps;
    const id = Math.floor(random.next() * 0x10000);
    const query = dns.encode({ type: 'query', id, flags: dns.RECURSION_DESIRED, questions: [question] });
    try {
      return dns.decode(await forwarder.forward(query, 'udp', signal)).answers ?? [];
    } catch (error) {
      logger.debug({ err: error, name: question.name }, 'alias not resolved');
      return [];
    }
  }

  private async forward({
    message,
    transport,
  }: {
    message: Buffer;
    transport: Transport;
  }): Promise<Reply | Buffer> {
    const { forwarder, signal, logger } = this.deps;
    try {
      return await forwarder.forward(message, transport, signal);
    } catch (error) {
      logger.debug({ err: error }, 'query not forwarded');
      return { code: rcode.serverFailure };
    }
  }
}

interface Reply {
  code: Rcode;
  answers?: Answer[];
  authorities?: Answer[];
  additionals?: Answer[];
  authoritative?: boolean;
}

/** A datagram that would be too long goes out without records and marked, so that the client asks again by TCP. */
function fit(query: Packet, reply: Reply, transport: Transport): Buffer {
  const full = encode(query, reply);
  const option = query.additionals?.find((a) => a.type === 'OPT');
  const limit = option
    ? Math.min(Math.max(option.udpPayloadSize, plainDatagram), largestDatagram)
    : plainDatagram;
  if (transport === 'tcp' || full.length <= limit) return full;
  const withoutExtras = encode(query, { ...reply, additionals: [] });
  if (withoutExtras.length <= limit) return withoutExtras;
  return encode(query, { code: reply.code, authoritative: reply.authoritative }, dns.TRUNCATED_RESPONSE);
}

function encode(query: Packet, reply: Reply, extraFlags = 0): Buffer {
  const usesEDNS = query.additionals?.some((a) => a.type === 'OPT');
  return dns.encode({
    type: 'response',
    id: query.id,
    flags:
      extraFlags |
      reply.code |
      ((query.flags ?? 0) & dns.RECURSION_DESIRED) |
      dns.RECURSION_AVAILABLE |
      (reply.authoritative ? dns.AUTHORITATIVE_ANSWER : 0),
    questions: query.questions,
    answers: reply.answers,
    authorities: reply.authorities,
    additionals: [...(reply.additionals ?? []), ...(usesEDNS ? [ourOption] : [])],
  });
}

const ourOption: Answer = {
  type: 'OPT',
  name: '.',
  udpPayloadSize: largestDatagram,
  extendedRcode: 0,
  ednsVersion: 0,
  flags: 0,
  flag_do: false,
  options: [],
};

/** Addresses come in another order each time, so that clients that take the first spread; aliases stay in front. */
function shuffle(answers: readonly Answer[], random: Random): Answer[] {
  const rank = (answer: Answer) => (answer.type === 'CNAME' ? -1 : random.next());
  return answers
    .map((answer) => ({ answer, rank: rank(answer) }))
    .sort((a, b) => a.rank - b.rank)
    .map(({ answer }) => answer);
}
