import type { ScriptNode, WordNode } from 'just-bash';
import { passwdEntries } from '../containers/users';
import type { Process } from '../kernel/process';
import { evaluate, type ArithmeticScope } from './arithmetic';
import { glob, hasPattern, patternRegExp, patternSource, type Piece } from './patterns';
import { ShellError, type ShellState } from './state';
import {
  parseScript,
  type ArithmeticNode,
  type Parameter,
  type ParameterOperation,
  type WordPart,
} from './syntax';

export interface ExpansionHost {
  readonly process: Process;
  readonly state: ShellState;
  /** Runs a command substitution; its output without trailing newlines. */
  substitute(script: ScriptNode): Promise<string>;
}

/** One field of an expanded word; it exists also when empty if something in it was quoted. */
interface Field {
  pieces: Piece[];
  quoted: boolean;
}

/** Word expansion in POSIX' order: braces, tilde, parameters, commands, arithmetic, field splitting, pathnames, quotes. */
export class Expansion {
  constructor(private readonly host: ExpansionHost) {}

  /** All fields of a list of words. */
  async fields(words: readonly WordNode[]): Promise<string[]> {
    const out: string[] = [];
    for (const word of words) {
      for (const alternative of braceAlternatives(word)) {
        for (const field of await this.split(alternative.parts)) out.push(...this.paths(field));
      }
    }
    return out;
  }

  /** One string: assignments, redirection targets, here-documents, `case` words. */
  async text(word: WordNode): Promise<string> {
    return (await this.pieces(word.parts, false)).map((piece) => piece.text).join('');
  }

  /** For patterns: what was quoted stays marked. */
  pattern(word: WordNode): Promise<Piece[]> {
    return this.pieces(word.parts, false);
  }

  async arithmetic({ expression }: ArithmeticNode): Promise<bigint> {
    return evaluate(expression, this.scope());
  }

  private scope(): ArithmeticScope {
    const { state } = this.host;
    const element = (name: string, index: number): string => {
      const value = state.variables.get(name)?.value;
      return Array.isArray(value) ? (value.at(index) ?? '') : index === 0 ? (value ?? '') : '';
    };
    return {
      get: (name) => state.get(name) ?? this.special(name) ?? '',
      set: (name, value) => state.assign(name, value),
      getElement: element,
      setElement: (name, index, value) => state.assignElement(name, index, value),
      expand: async (text) => this.text(await wordOf(text)),
      parse: async (text) => {
        const [part] = (await wordOf(`$(( ${text} ))`)).parts;
        if (part?.type !== 'ArithmeticExpansion') throw new ShellError(`${text}: arithmetic syntax error`, 2);
        return part.expression.expression;
      },
    };
  }

  private paths({ pieces, quoted }: Field): string[] {
    const { state, process } = this.host;
    const text = pieces.map((piece) => piece.text).join('');
    if (text === '' && !quoted) return [];
    if (state.options.noglob || !hasPattern(pieces)) return [text];
    const found = glob(pieces, process.fs, process.cwd);
    return found.length > 0 ? found : [text];
  }

  /** Without field splitting. */
  private async pieces(parts: readonly WordPart[], quoted: boolean): Promise<Piece[]> {
    const out: Piece[] = [];
    for (const part of parts) {
      if (part.type === 'DoubleQuoted') {
        out.push(...(await this.pieces(part.parts, true)));
        continue;
      }
      if (part.type === 'ParameterExpansion' && part.operation === null && isList(part.parameter)) {
        out.push({ text: this.listOf(part.parameter).join(' '), quoted });
        continue;
      }
      const { text, literal } = await this.single(part);
      out.push({ text, quoted: quoted || literal });
    }
    return out;
  }

  private async split(parts: readonly WordPart[]): Promise<Field[]> {
    const fields: Field[] = [];
    let current: Field | undefined;
    const add = (text: string, quoted: boolean) => {
      current ??= startField(fields);
      current.pieces.push({ text, quoted });
      current.quoted ||= quoted;
    };
    const breakField = () => {
      current = undefined;
    };
    const addSplit = (text: string) => {
      splitFields(text, this.host.state.get('IFS') ?? ' \t\n').forEach((field, index) => {
        if (index > 0) breakField();
        if (field !== '') add(field, false);
      });
    };
    for (const part of parts) {
      switch (part.type) {
        case 'DoubleQuoted':
          await this.addDoubleQuoted(part.parts, add, breakField);
          break;
        case 'ParameterExpansion':
          if (part.operation === null && isList(part.parameter)) {
            this.listOf(part.parameter).forEach((item, index) => {
              if (index > 0) breakField();
              addSplit(item);
            });
          } else if (part.operation && 'word' in part.operation && part.operation.word) {
            for (const piece of await this.withWord(part)) {
              if (piece.quoted) add(piece.text, true);
              else addSplit(piece.text);
            }
          } else addSplit(await this.parameter(part));
          break;
        case 'CommandSubstitution':
          addSplit(await this.host.substitute(part.body));
          break;
        case 'ArithmeticExpansion':
          addSplit(String(await this.arithmetic(part.expression)));
          break;
        default: {
          const { text, literal } = await this.single(part);
          add(text, literal);
        }
      }
    }
    return fields;
  }

  private async addDoubleQuoted(
    parts: readonly WordPart[],
    add: (text: string, quoted: boolean) => void,
    breakField: () => void,
  ): Promise<void> {
    let onlyEmptyList = parts.length > 0;
    for (const part of parts) {
      if (part.type === 'ParameterExpansion' && part.operation === null && isAtList(part.parameter)) {
        const items = this.listOf(part.parameter);
        items.forEach((item, index) => {
          if (index > 0) breakField();
          add(item, true);
        });
        if (items.length > 0) onlyEmptyList = false;
        continue;
      }
      onlyEmptyList = false;
      for (const piece of await this.pieces([part], true)) add(piece.text, true);
    }
    if (parts.length === 0) add('', true);
    else if (!onlyEmptyList) add('', true);
  }

  /** A part that gives one text. `literal`: not open to splitting and patterns. */
  private async single(part: WordPart): Promise<{ text: string; literal: boolean }> {
    switch (part.type) {
      case 'Literal':
        return { text: part.value, literal: false };
      case 'SingleQuoted':
      case 'Escaped':
        return { text: part.value, literal: true };
      case 'Glob':
        return { text: part.pattern, literal: false };
      case 'TildeExpansion':
        return { text: this.home(part.user), literal: true };
      case 'ParameterExpansion':
        return { text: await this.parameter(part), literal: false };
      case 'CommandSubstitution':
        return { text: await this.host.substitute(part.body), literal: false };
      case 'ArithmeticExpansion':
        return { text: String(await this.arithmetic(part.expression)), literal: false };
      case 'DoubleQuoted':
        return { text: (await this.pieces(part.parts, true)).map((p) => p.text).join(''), literal: true };
      case 'BraceExpansion':
        return { text: '', literal: true };
      case 'ProcessSubstitution':
        throw new ShellError('process substitution is not supported here', 2);
    }
  }

  private home(user: string | null): string {
    if (user === null) return this.host.state.get('HOME') ?? '/';
    return passwdEntries(this.host.process.fs).find((e) => e.name === user)?.home ?? `~${user}`;
  }

  private listOf(parameter: string): string[] {
    if (parameter === '@' || parameter === '*') return [...this.host.state.positional];
    const value = this.host.state.variables.get(parameter.slice(0, -3))?.value;
    return Array.isArray(value) ? value : value === undefined ? [] : [value];
  }

  /** `$1`, `$?`, `$x`, `${x[2]}`; undefined when unset. */
  private async lookUp(name: string): Promise<string | undefined> {
    const special = this.special(name);
    if (special !== undefined) return special;
    const element = /^(\w+)\[(.+)\]$/.exec(name);
    if (element) {
      const [, array = '', index = '0'] = element;
      if (index === '@' || index === '*') return this.listOf(name).join(' ');
      const at = Number(await evaluate(await this.scope().parse(index), this.scope()));
      const value = this.host.state.variables.get(array)?.value;
      return Array.isArray(value) ? value.at(at) : at === 0 ? value : undefined;
    }
    return this.host.state.get(name);
  }

  private special(name: string): string | undefined {
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
        return String(process.pid);
      case '!':
        return state.lastBackground;
      case '@':
      case '*':
        return state.positional.length > 0 ? state.positional.join(' ') : undefined;
      case '-':
        return `${state.options.errexit ? 'e' : ''}${state.options.xtrace ? 'x' : ''}${process.tty ? 'i' : ''}`;
      case 'RANDOM':
        return String(Math.floor(process.machine.random.next() * 32768));
      case 'SECONDS':
        return String(Math.floor((process.clock.now() - process.startedAt) / 1000));
      case 'PPID':
        return String(process.ppid);
      case 'UID':
      case 'EUID':
        return state.dialect === 'bash' ? String(process.user.uid) : undefined;
      default:
        return undefined;
    }
  }

  private async parameter(part: Parameter): Promise<string> {
    const { state } = this.host;
    const value = await this.lookUp(part.parameter);
    if (part.operation === null) {
      if (value === undefined && state.options.nounset && !/^[@*]$/.test(part.parameter))
        throw new ShellError(
          `${part.parameter}: ${state.dialect === 'bash' ? 'unbound variable' : 'parameter not set'}`,
        );
      return value ?? '';
    }
    return this.operate(part, part.operation, value);
  }

  /** Operations whose word may be quoted by itself: `${x:-"a b"}`. */
  private async withWord(part: Parameter): Promise<Piece[]> {
    const { operation } = part;
    const value = await this.lookUp(part.parameter);
    if (operation?.type === 'DefaultValue' || operation?.type === 'UseAlternative') {
      const missing = value === undefined || (operation.checkEmpty && value === '');
      const useWord = operation.type === 'DefaultValue' ? missing : !missing;
      if (useWord) return this.pieces(operation.word.parts, false);
      return [{ text: operation.type === 'DefaultValue' ? (value ?? '') : '', quoted: false }];
    }
    return [{ text: await this.parameter(part), quoted: false }];
  }

  private async operate(
    part: Parameter,
    operation: ParameterOperation,
    value: string | undefined,
  ): Promise<string> {
    const missing =
      value === undefined || ('checkEmpty' in operation && operation.checkEmpty && value === '');
    const text = value ?? '';
    switch (operation.type) {
      case 'DefaultValue':
        return missing ? this.text(operation.word) : text;
      case 'AssignDefault': {
        if (!missing) return text;
        const assigned = await this.text(operation.word);
        this.host.state.assign(part.parameter, assigned);
        return assigned;
      }
      case 'UseAlternative':
        return missing ? '' : this.text(operation.word);
      case 'ErrorIfUnset':
        if (!missing) return text;
        throw new ShellError(
          `${part.parameter}: ${operation.word ? await this.text(operation.word) : 'parameter null or not set'}`,
        );
      case 'Length':
        return String(isList(part.parameter) ? this.listOf(part.parameter).length : [...text].length);
      case 'Substring': {
        const offset = Number(await this.arithmetic(operation.offset));
        const start = offset < 0 ? Math.max(0, text.length + offset) : offset;
        if (operation.length === null) return text.slice(start);
        const length = Number(await this.arithmetic(operation.length));
        return length < 0 ? text.slice(start, text.length + length) : text.slice(start, start + length);
      }
      case 'PatternRemoval':
        return removePattern(text, await this.pattern(operation.pattern), operation);
      case 'PatternReplacement': {
        const source = patternSource(await this.pattern(operation.pattern));
        const anchored =
          operation.anchor === 'start'
            ? `^(?:${source})`
            : operation.anchor === 'end'
              ? `(?:${source})$`
              : source;
        const replacement = operation.replacement ? await this.text(operation.replacement) : '';
        return text.replace(new RegExp(anchored, operation.all ? 'g' : ''), () => replacement);
      }
      case 'CaseModification': {
        const change = (s: string) => (operation.direction === 'upper' ? s.toUpperCase() : s.toLowerCase());
        return operation.all ? change(text) : change(text.slice(0, 1)) + text.slice(1);
      }
      case 'Indirection':
        return (await this.lookUp(text)) ?? '';
      case 'Transform':
        return operation.operator === 'Q'
          ? `'${text.replaceAll("'", "'\\''")}'`
          : operation.operator === 'U'
            ? text.toUpperCase()
            : operation.operator === 'L'
              ? text.toLowerCase()
              : text;
      case 'ArrayKeys':
        return this.listOf(`${operation.array}[@]`)
          .map((_, i) => i)
          .join(' ');
      case 'VarNamePrefix':
        return [...this.host.state.variables.keys()]
          .filter((name) => name.startsWith(operation.prefix))
          .sort()
          .join(' ');
      case 'BadSubstitution':
      case 'LengthSliceError':
        throw new ShellError('bad substitution', 2);
    }
  }
}

const isList = (parameter: string): boolean =>
  parameter === '@' || parameter === '*' || /\[[@*]\]$/.test(parameter);
const isAtList = (parameter: string): boolean => parameter === '@' || parameter.endsWith('[@]');

function startField(fields: Field[]): Field {
  const field: Field = { pieces: [], quoted: false };
  fields.push(field);
  return field;
}

/** Leading and trailing separators make empty fields, so that text before and after joins or not as it must. */
function splitFields(text: string, ifs: string): string[] {
  if (ifs === '' || text === '') return [text];
  const blanks = [...ifs].filter((c) => /\s/.test(c)).join('');
  const others = [...ifs].filter((c) => !/\s/.test(c)).join('');
  const escape = (s: string) => s.replace(/[\\\]^-]/g, '\\$&');
  const blank = blanks === '' ? '' : `[${escape(blanks)}]`;
  const other = others === '' ? '' : `[${escape(others)}]`;
  const separator =
    blank === '' ? other : other === '' ? `${blank}+` : `${blank}*${other}${blank}*|${blank}+`;
  return text.split(new RegExp(separator));
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

/** `a{b,c}` is two words; `{1..3}` three. */
function braceAlternatives(word: WordNode): WordNode[] {
  const at = word.parts.findIndex((part) => part.type === 'BraceExpansion');
  const part = word.parts[at];
  if (part?.type !== 'BraceExpansion') return [word];
  const before = word.parts.slice(0, at);
  const after = word.parts.slice(at + 1);
  return part.items.flatMap((item) => {
    const choices: WordPart[][] =
      item.type === 'Word' ? [item.word.parts] : rangeOf(item).map((value) => [{ type: 'Literal', value }]);
    return choices.flatMap((parts) => braceAlternatives({ ...word, parts: [...before, ...parts, ...after] }));
  });
}

function rangeOf({
  start,
  end,
  step,
}: {
  start: string | number;
  end: string | number;
  step?: number;
}): string[] {
  const numeric = typeof start === 'number' && typeof end === 'number';
  const from = numeric ? Number(start) : String(start).charCodeAt(0);
  const to = numeric ? Number(end) : String(end).charCodeAt(0);
  const by = Math.max(1, Math.abs(step ?? 1)) * (to < from ? -1 : 1);
  const values: string[] = [];
  for (let value = from; by > 0 ? value <= to : value >= to; value += by)
    values.push(numeric ? String(value) : String.fromCharCode(value));
  return values;
}

/** A word that is only known as text (arithmetic operands). */
async function wordOf(text: string): Promise<WordNode> {
  const script = await parseScript(`: "${text.replaceAll('"', '\\"')}"`);
  const command = script.statements[0]?.pipelines[0]?.commands[0];
  const quoted = command?.type === 'SimpleCommand' ? command.args[0]?.parts[0] : undefined;
  return { type: 'Word', parts: quoted?.type === 'DoubleQuoted' ? quoted.parts : [] };
}
