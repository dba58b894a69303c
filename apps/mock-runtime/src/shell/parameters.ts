import { evaluate } from './arithmetic';
import type { Expansion, ExpansionHost } from './expansion';
import { patternRegExp, patternSource, type Piece } from './patterns';
import { ShellError } from './state';
import type { Parameter, ParameterOperation } from './syntax';
import { itemsOf, keysOf } from './variables';

/** `@`, `*`, `a[@]`: a parameter that stands for several fields. */
export const isList = (parameter: string): boolean =>
  parameter === '@' || parameter === '*' || /\[[@*]\]$/.test(parameter);
export const isAtList = (parameter: string): boolean => parameter === '@' || parameter.endsWith('[@]');

/** Parameter expansion: what `$x` and `${x…}` stand for. */
export class ParameterValues {
  constructor(
    private readonly host: ExpansionHost,
    private readonly expansion: Expansion,
  ) {}

  /** The fields of a list with its operation (`${a[@]:1:2}`, `${!a[@]}`, `${a[@]#x}`); undefined for what is no list. */
  async list({ parameter, operation }: Parameter): Promise<string[] | undefined> {
    if (operation?.type === 'ArrayKeys') return keysOf(this.host.state.variables.get(operation.array)?.value);
    if (!isList(parameter)) return undefined;
    const items = this.listOf(parameter);
    if (operation === null) return items;
    if (operation.type === 'Substring') {
      // `${@:1}` counts from $0.
      const all = parameter === '@' || parameter === '*' ? [this.host.state.name, ...items] : items;
      const offset = Number(await this.expansion.arithmetic(operation.offset));
      const start = offset < 0 ? Math.max(0, all.length + offset) : offset;
      if (operation.length === null) return all.slice(start);
      return all.slice(start, start + Number(await this.expansion.arithmetic(operation.length)));
    }
    const each = ['PatternRemoval', 'PatternReplacement', 'CaseModification', 'Transform'];
    if (!each.includes(operation.type)) return undefined;
    return Promise.all(items.map((item) => this.operate({ parameter, operation }, item)));
  }

  listOf(parameter: string): string[] {
    const { state } = this.host;
    if (parameter === '@' || parameter === '*') return [...state.positional];
    return itemsOf(state.variables.get(parameter.slice(0, -3))?.value);
  }

  /** How `"$*"` joins. */
  separator(): string {
    const ifs = this.host.state.variables.has('IFS') ? (this.host.state.get('IFS') ?? '') : ' ';
    return ifs.slice(0, 1);
  }

  /** `$1`, `$?`, `$x`, `${x[2]}`; undefined when unset. */
  async lookUp(name: string): Promise<string | undefined> {
    const special = this.special(name);
    if (special !== undefined) return special;
    const element = /^(\w+)\[([\s\S]+)\]$/.exec(name);
    if (!element) return this.host.state.get(name);
    const [, array = '', index = '0'] = element;
    if (index === '@' || index === '*') return this.listOf(name).join(' ');
    return this.host.state.element(array, await this.keyOf(array, index));
  }

  /** A subscript: text for an associative array, else a number. */
  async keyOf(array: string, subscript: string): Promise<string | number> {
    const scope = this.expansion.scope();
    if (this.host.state.variables.get(array)?.value instanceof Map) return scope.expand(subscript);
    return Number(await evaluate(await scope.parse(subscript), scope));
  }

  special(name: string): string | undefined {
    const { state, process } = this.host;
    if (/^[1-9]\d*$/.test(name)) return state.positional[Number(name) - 1];
    switch (name) {
      case '0':
        return state.name;
      case '?':
        return String(state.status);
      case '#':
        return String(state.positional.length);
      case '$':
        return String(this.host.shellPid);
      case '!':
        return state.lastBackground;
      case '@':
      case '*':
        return state.positional.length > 0 ? state.positional.join(' ') : undefined;
      case '-':
        return `${[...state.options].map((option) => optionLetter(option)).join('')}${state.interactive ? 'i' : ''}`;
      case 'RANDOM':
        return String(Math.floor(process.machine.random.next() * 32768));
      case 'SECONDS':
        return String(Math.floor((process.clock.now() - process.startedAt) / 1000));
      case 'LINENO':
        return String(state.line);
      case 'PPID':
        return String(process.ppid);
      default:
        return state.dialect === 'bash' ? this.bashSpecial(name) : undefined;
    }
  }

  async text(part: Parameter): Promise<string> {
    const { state } = this.host;
    const value = await this.lookUp(part.parameter);
    if (part.operation !== null) return this.operate({ ...part, operation: part.operation }, value);
    if (value === undefined && state.options.has('nounset') && !/^[@*]$/.test(part.parameter)) {
      const what = state.dialect === 'bash' ? 'unbound variable' : 'parameter not set';
      throw new ShellError(`${part.parameter}: ${what}`, 'expansion');
    }
    return value ?? '';
  }

  /** Operations whose word may be quoted by itself: `${x:-"a b"}`. */
  async withWord(part: Parameter): Promise<Piece[]> {
    const { operation } = part;
    const value = await this.lookUp(part.parameter);
    if (operation?.type === 'DefaultValue' || operation?.type === 'UseAlternative') {
      const missing = value === undefined || (operation.checkEmpty && value === '');
      const useWord = operation.type === 'DefaultValue' ? missing : !missing;
      if (useWord) return this.expansion.pattern(operation.word);
      return [{ text: operation.type === 'DefaultValue' ? (value ?? '') : '', quoted: false }];
    }
    return [{ text: await this.text(part), quoted: false }];
  }

  private bashSpecial(name: string): string | undefined {
    const { state, process } = this.host;
    switch (name) {
      case 'UID':
      case 'EUID':
        return String(process.user.uid);
      case 'FUNCNAME':
        return state.calls[0] ?? '';
      case 'BASHPID':
        return String(process.pid);
      case 'HOSTNAME':
        return state.get('HOSTNAME') ?? process.machine.hostname;
      case 'OSTYPE':
        return 'linux-gnu';
      default:
        return undefined;
    }
  }

  private async operate(
    { parameter, operation }: { parameter: string; operation: ParameterOperation },
    value: string | undefined,
  ): Promise<string> {
    const { expansion } = this;
    const { state } = this.host;
    const missing =
      value === undefined || ('checkEmpty' in operation && operation.checkEmpty && value === '');
    const text = value ?? '';
    switch (operation.type) {
      case 'DefaultValue':
        return missing ? expansion.text(operation.word) : text;
      case 'AssignDefault': {
        if (!missing) return text;
        const assigned = await expansion.text(operation.word);
        state.assign(parameter, assigned);
        return assigned;
      }
      case 'UseAlternative':
        return missing ? '' : expansion.text(operation.word);
      case 'ErrorIfUnset': {
        if (!missing) return text;
        const orNull = state.dialect === 'sh' ? 'parameter not set or null' : 'parameter null or not set';
        const words = operation.checkEmpty ? orNull : 'parameter not set';
        const given = operation.word ? await expansion.text(operation.word) : '';
        throw new ShellError(`${parameter}: ${given || words}`, 'expansion');
      }
      case 'Length':
        return String(isList(parameter) ? this.listOf(parameter).length : [...text].length);
      case 'Substring': {
        const offset = Number(await expansion.arithmetic(operation.offset));
        const start = offset < 0 ? Math.max(0, text.length + offset) : offset;
        if (operation.length === null) return text.slice(start);
        const length = Number(await expansion.arithmetic(operation.length));
        return length < 0 ? text.slice(start, text.length + length) : text.slice(start, start + length);
      }
      case 'PatternRemoval':
        return removePattern(text, await expansion.pattern(operation.pattern), operation);
      case 'PatternReplacement': {
        const source = patternSource(await expansion.pattern(operation.pattern));
        const anchored =
          operation.anchor === 'start'
            ? `^(?:${source})`
            : operation.anchor === 'end'
              ? `(?:${source})$`
              : source;
        const replacement = operation.replacement ? await expansion.text(operation.replacement) : '';
        return text.replace(new RegExp(anchored, operation.all ? 'g' : ''), () => replacement);
      }
      case 'CaseModification': {
        const change = (s: string) => (operation.direction === 'upper' ? s.toUpperCase() : s.toLowerCase());
        return operation.all ? change(text) : change(text.slice(0, 1)) + text.slice(1);
      }
      case 'Indirection':
        return (await this.lookUp(text)) ?? '';
      case 'Transform':
        return transform(operation.operator, text);
      case 'ArrayKeys':
        return keysOf(state.variables.get(operation.array)?.value).join(' ');
      case 'VarNamePrefix':
        return [...state.variables.keys()]
          .filter((name) => name.startsWith(operation.prefix))
          .sort()
          .join(' ');
      case 'BadSubstitution':
      case 'LengthSliceError':
        throw new ShellError('bad substitution');
    }
  }
}

function optionLetter(option: string): string {
  return { errexit: 'e', nounset: 'u', xtrace: 'x', noglob: 'f', noclobber: 'C', verbose: 'v' }[option] ?? '';
}

function transform(operator: string, text: string): string {
  switch (operator) {
    case 'Q':
      return `'${text.replaceAll("'", "'\\''")}'`;
    case 'U':
      return text.toUpperCase();
    case 'u':
      return text.slice(0, 1).toUpperCase() + text.slice(1);
    case 'L':
      return text.toLowerCase();
    default:
      return text;
  }
}

function removePattern(
  text: string,
  pieces: readonly Piece[],
  { side, greedy }: { side: 'prefix' | 'suffix'; greedy: boolean },
): string {
  const matcher = patternRegExp(pieces);
  const lengths = Array.from({ length: text.length + 1 }, (_, i) => i);
  if (greedy) lengths.reverse();
  for (const length of lengths) {
    const part = side === 'prefix' ? text.slice(0, length) : text.slice(text.length - length);
    if (matcher.test(part))
      return side === 'prefix' ? text.slice(length) : text.slice(0, text.length - length);
  }
  return text;
}
