import type { Answer, Packet, RecordType } from 'dns-packet';
import type { Process } from '../kernel/process';
import { answers, candidates, query, readResolvConf } from '../net/resolver';

const types = ['A', 'AAAA', 'CNAME', 'MX', 'NS', 'PTR', 'SOA', 'SRV', 'TXT'] as const;

const toType = (text: string): RecordType | undefined => types.find((type) => type === text.toUpperCase());

interface Asked {
  name: string;
  type: RecordType;
  server: string | undefined;
  isShort: boolean;
  searches: boolean;
}

/** `dig [@SERVER] [-t TYPE] [-x ADDRESS] NAME [TYPE] [+short] [+search]`: names are taken as they are, unless `+search`. */
export async function dig(process: Process): Promise<number> {
  const asked = parse(process.argv.slice(1));
  const config = readResolvConf(process.fs);
  const server = asked.server ?? config.nameservers[0] ?? '127.0.0.1';
  const names = asked.searches ? candidates(asked.name, config) : [asked.name];
  let packet: Packet | undefined;
  let name = asked.name;
  const startedAt = process.clock.now();
  for (name of names) {
    packet = await query(process, { name: name.replace(/\.$/, ''), type: asked.type, server });
    if (packet && answers(packet).length > 0) break;
  }
  if (!packet) {
    const banner = asked.isShort ? '' : `\n; <<>> DiG 9.18.39 <<>> ${process.argv.slice(1).join(' ')}\n`;
    await process.print(
      `${banner};; communications error to ${server}#53: timed out\n;; no servers could be reached\n`,
    );
    return 9;
  }
  const ms = Math.round(process.clock.now() - startedAt);
  await process.print(
    asked.isShort ? shortText(packet) : fullText(process, { packet, name, asked, server, ms }),
  );
  return 0;
}

function parse(args: readonly string[]): Asked {
  const asked: Asked = { name: '.', type: 'A', server: undefined, isShort: false, searches: false };
  for (let i = 0; i < args.length; i++) {
    const arg = args[i] ?? '';
    if (arg.startsWith('@')) asked.server = arg.slice(1);
    else if (arg === '+short') asked.isShort = true;
    else if (arg === '+search') asked.searches = true;
    else if (arg === '-x') Object.assign(asked, { name: reverseName(args[++i] ?? ''), type: 'PTR' });
    else if (arg === '-t') asked.type = toType(args[++i] ?? '') ?? asked.type;
    else if (arg.startsWith('+') || arg.startsWith('-') || arg === 'IN') continue;
    else {
      const type = toType(arg);
      if (type) asked.type = type;
      else asked.name = arg;
    }
  }
  return asked;
}

export const reverseName = (address: string): string =>
  `${address.split('.').reverse().join('.')}.in-addr.arpa`;

const dotted = (name: string): string => (name.endsWith('.') ? name : `${name}.`);

/** What stands behind the type in a line of a zone file. */
function dataText(answer: Answer): string {
  switch (answer.type) {
    case 'A':
    case 'AAAA':
      return answer.data;
    case 'CNAME':
    case 'NS':
    case 'PTR':
      return dotted(answer.data);
    case 'SRV': {
      const { priority = 0, weight = 0, port, target } = answer.data;
      return `${priority} ${weight} ${port} ${dotted(target)}`;
    }
    case 'SOA': {
      const { mname, rname, serial, refresh, retry, expire, minimum } = answer.data;
      return [dotted(mname), dotted(rname), serial, refresh, retry, expire, minimum].join(' ');
    }
    default:
      return JSON.stringify('data' in answer ? String(answer.data) : '');
  }
}

const shortText = (packet: Packet): string =>
  answers(packet)
    .map((answer) => `${dataText(answer)}\n`)
    .join('');

const line = (answer: Answer): string =>
  `${dotted(answer.name)}\t\t${'ttl' in answer ? (answer.ttl ?? 0) : 0}\tIN\t${answer.type}\t${dataText(answer)}\n`;

interface Shown {
  packet: Packet;
  name: string;
  asked: Asked;
  server: string;
  ms: number;
}

function fullText(process: Process, { packet, name, asked, server, ms }: Shown): string {
  const found = answers(packet);
  const authorities = packet.authorities ?? [];
  const { rcode = 'NOERROR' } = packet as { rcode?: string };
  const section = (title: string, lines: readonly Answer[]) =>
    lines.length > 0 ? `;; ${title} SECTION:\n${lines.map(line).join('')}\n` : '';
  const flags = ['qr', ...((packet as { flag_aa?: boolean }).flag_aa ? ['aa'] : []), 'rd', 'ra'];
  return [
    `\n; <<>> DiG 9.18.39 <<>> ${process.argv.slice(1).join(' ')}\n;; global options: +cmd\n;; Got answer:\n`,
    `;; ->>HEADER<<- opcode: QUERY, status: ${rcode}, id: ${packet.id}\n`,
    `;; flags: ${flags.join(' ')}; QUERY: 1, ANSWER: ${found.length}, AUTHORITY: ${authorities.length}, ADDITIONAL: 0\n\n`,
    `;; QUESTION SECTION:\n;${dotted(name)}\t\tIN\t${asked.type}\n\n`,
    section('ANSWER', found),
    section('AUTHORITY', authorities),
    `;; Query time: ${ms} msec\n;; SERVER: ${server}#53(${server}) (UDP)\n;; WHEN: ${new Date(process.clock.now()).toUTCString()}\n\n`,
  ].join('');
}

/** `host NAME [SERVER]`: an address, or the name behind one. */
export async function host(process: Process): Promise<number> {
  const [name = '', given] = process.argv.slice(1).filter((arg) => !arg.startsWith('-'));
  const config = readResolvConf(process.fs);
  const server = given ?? config.nameservers[0] ?? '127.0.0.1';
  const isAddress = /^[\d.]+$/.test(name);
  for (const candidate of isAddress ? [reverseName(name)] : candidates(name, config)) {
    const packet = await query(process, { name: candidate, type: isAddress ? 'PTR' : 'A', server });
    if (!packet) {
      await process.print(';; connection timed out; no servers could be reached\n');
      return 1;
    }
    const found = answers(packet);
    if (found.length === 0) continue;
    const words: Readonly<Record<string, string>> = {
      A: 'has address',
      CNAME: 'is an alias for',
      PTR: 'domain name pointer',
    };
    await process.print(
      found
        .map((answer) => `${answer.name} ${words[answer.type] ?? answer.type} ${dataText(answer)}\n`)
        .join(''),
    );
    return 0;
  }
  await process.print(`Host ${name} not found: 3(NXDOMAIN)\n`);
  return 1;
}

/** What `nslookup` prints of other records than addresses. */
export const recordText = (answer: Answer): string =>
  answer.type === 'SRV'
    ? `${answer.name}\tservice = ${dataText(answer)}\n`
    : answer.type === 'PTR'
      ? `${answer.name}\tname = ${dataText(answer)}\n`
      : answer.type === 'CNAME'
        ? `${answer.name}\tcanonical name = ${dataText(answer)}\n`
        : `${answer.name}\t${answer.type} = ${dataText(answer)}\n`;
