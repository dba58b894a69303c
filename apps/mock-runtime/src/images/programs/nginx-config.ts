/** The parts of an nginx configuration that decide what a request gets. */
export interface NginxServer {
  ports: number[];
  names: string[];
  root?: string;
  index?: string[];
  defaultType?: string;
  returns?: NginxReturn;
  locations: NginxLocation[];
}

export interface NginxLocation {
  path: string;
  exact: boolean;
  root?: string;
  alias?: string;
  index?: string[];
  defaultType?: string;
  returns?: NginxReturn;
}

export interface NginxReturn {
  status: number;
  text: string;
}

export const defaultConfiguration = `server {
    listen       80;
    server_name  localhost;

    location / {
        root   /usr/share/nginx/html;
        index  index.html index.htm;
    }
}
`;

interface Directive {
  name: string;
  args: string[];
  block?: Directive[];
}

/** All `server` blocks, wherever they are. */
export function parseNginxConfig(text: string): NginxServer[] {
  return serversIn(parseBlock(tokens(text), { at: 0 }));
}

function tokens(text: string): string[] {
  const withoutComments = text.replace(/^\s*#.*$/gm, '').replace(/\s#.*$/gm, '');
  return withoutComments.match(/"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[{};]|[^\s{};"']+/g) ?? [];
}

function parseBlock(list: readonly string[], cursor: { at: number }): Directive[] {
  const directives: Directive[] = [];
  let words: string[] = [];
  while (cursor.at < list.length) {
    const token = list[cursor.at++] ?? '';
    if (token === '}') break;
    if (token !== ';' && token !== '{') {
      words.push(unquote(token));
      continue;
    }
    const [name = '', ...args] = words;
    words = [];
    directives.push(token === '{' ? { name, args, block: parseBlock(list, cursor) } : { name, args });
  }
  return directives;
}

function unquote(token: string): string {
  if (!/^["']/.test(token)) return token;
  return token.slice(1, -1).replace(/\\n/g, '\n').replace(/\\(.)/g, '$1');
}

function serversIn(directives: readonly Directive[]): NginxServer[] {
  return directives.flatMap((d) =>
    d.name === 'server' && d.block ? [toServer(d.block)] : serversIn(d.block ?? []),
  );
}

function toServer(block: readonly Directive[]): NginxServer {
  const ports = block.filter((d) => d.name === 'listen').flatMap((d) => portOf(d.args[0] ?? ''));
  return {
    ports: ports.length > 0 ? [...new Set(ports)] : [80],
    names: block.filter((d) => d.name === 'server_name').flatMap((d) => d.args),
    locations: block.filter((d) => d.name === 'location').map(toLocation),
    ...common(block),
  };
}

function toLocation({ args, block = [] }: Directive): NginxLocation {
  const [modifier = '', path = modifier] = args;
  return { path, exact: modifier === '=', alias: valueOf(block, 'alias'), ...common(block) };
}

function common(block: readonly Directive[]) {
  const returns = block.find((d) => d.name === 'return');
  const status = Number(returns?.args[0]);
  return {
    root: valueOf(block, 'root'),
    index: block.find((d) => d.name === 'index')?.args,
    defaultType: valueOf(block, 'default_type'),
    returns:
      returns && Number.isInteger(status) ? { status, text: returns.args.slice(1).join(' ') } : undefined,
  };
}

const valueOf = (block: readonly Directive[], name: string): string | undefined =>
  block.find((d) => d.name === name)?.args[0];

function portOf(listen: string): number[] {
  const port = Number(listen.split(':').pop());
  return Number.isInteger(port) && port > 0 ? [port] : [];
}
