import { Context, regexOf } from './configuration';
import type { Directive } from './directives';
import { textAnswer, type Answer, type Exchange } from './exchange';
import { expand } from './variables';

/** What the rewrite phase of a block comes to: an answer, another search for a location, or the next phase. */
export type Rewritten = Answer | 'again' | 'go on';

/** Runs `set`, `rewrite`, `if`, `return` and `break` of one block in their order. Source: ngx_http_rewrite_module. */
export function rewrite(directives: readonly Directive[], exchange: Exchange): Rewritten {
  for (const directive of directives) {
    const { name, args, block = [] } = directive;
    switch (name) {
      case 'break':
        return 'go on';
      case 'set':
        exchange.variables.set((args[0] ?? '').replace(/^\$/, ''), expand(args[1] ?? '', exchange));
        break;
      case 'return':
        return returned(args, exchange);
      case 'rewrite': {
        const outcome = rewriteUri(directive, exchange);
        if (outcome === 'break') return 'go on';
        if (outcome !== undefined) return outcome;
        break;
      }
      case 'if': {
        if (!holds(directive, exchange)) break;
        exchange.context = new Context(block, exchange.context);
        const outcome = rewrite(block, exchange);
        if (outcome !== 'go on') return outcome;
        break;
      }
    }
  }
  return 'go on';
}

function returned([first = '', ...rest]: readonly string[], exchange: Exchange): Answer {
  const isStatus = /^\d{3}$/.test(first);
  const status = isStatus ? Number(first) : 302;
  const text = expand(isStatus ? rest.join(' ') : first, exchange);
  if (status >= 300 && status < 400 && text !== '') return redirect(status, text, exchange);
  if (rest.length === 0) return { status };
  return textAnswer(status, text, exchange.context.value('default_type') ?? 'text/plain');
}

/** With `absolute_redirect` on, which it is, a path becomes a whole URL. */
export function redirect(status: number, to: string, exchange: Exchange): Answer {
  if (!to.startsWith('/') || exchange.context.value('absolute_redirect') === 'off')
    return { status, headers: { Location: to } };
  const scheme = expand('$scheme', exchange);
  const isUsual = exchange.port === (scheme === 'https' ? 443 : 80);
  const port = isUsual || exchange.context.value('port_in_redirect') === 'off' ? '' : `:${exchange.port}`;
  return { status, headers: { Location: `${scheme}://${exchange.host}${port}${to}` } };
}

function rewriteUri({ args, place }: Directive, exchange: Exchange): Rewritten | 'break' | undefined {
  const [source = '', replacement = '', flag] = args;
  const match = regexOf(source, false, place).exec(exchange.uri);
  if (!match) return undefined;
  capture(match, exchange);
  const target = expand(replacement, exchange);
  const [path = '', query] = target.split(/\?(.*)/s);
  const args2 = query === undefined ? exchange.args : [query, exchange.args].filter(Boolean).join('&');
  if (flag === 'redirect' || flag === 'permanent' || /^https?:\/\/|^\$scheme/.test(replacement)) {
    const to = args2 === '' ? path : `${path}?${args2}`;
    return redirect(flag === 'permanent' ? 301 : 302, to, exchange);
  }
  exchange.uri = path;
  exchange.args = args2;
  if (flag === 'last') return 'again';
  return flag === 'break' ? 'break' : undefined;
}

/** Groups are `$1`, and variables where they have a name. */
export function capture(match: RegExpExecArray, exchange: Exchange): void {
  exchange.captures = [...match];
  for (const [name, value] of Object.entries(match.groups ?? {})) exchange.variables.set(name, value ?? '');
}

/** `if ($x)`, `if ($x = y)`, `if ($x ~* y)`, `if (-f $request_filename)`. */
function holds({ args, place }: Directive, exchange: Exchange): boolean {
  const text = args.join(' ').replace(/^\(\s*|\s*\)$/g, '');
  const file = /^(!?)-([fdex])\s+(\S+)$/.exec(text);
  if (file) return isFile(file[2] ?? '', expand(file[3] ?? '', exchange), exchange) !== (file[1] === '!');
  const [, left = '', operator, right = ''] =
    /^(\S+)(?:\s+(=|!=|~\*|~|!~\*|!~)\s*([\s\S]*))?$/.exec(text) ?? [];
  const value = expand(left, exchange);
  if (operator === undefined) return value !== '' && value !== '0';
  if (operator === '=' || operator === '!=')
    return (value === expand(right, exchange)) === (operator === '=');
  const match = regexOf(right, operator.endsWith('*'), place).exec(value);
  if (match) capture(match, exchange);
  return (match !== null) !== operator.startsWith('!');
}

function isFile(test: string, path: string, { site }: Exchange): boolean {
  const { fs } = site.process;
  if (test === 'd') return fs.isDirectory(path);
  if (test === 'x') return fs.isExecutable(path);
  return fs.exists(path) && (test === 'e' || !fs.isDirectory(path));
}
