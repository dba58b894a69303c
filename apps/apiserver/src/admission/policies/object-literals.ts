/**
 * Turns the typed literals of mutation expressions (`Object.spec{replicas: 3}`, `JSONPatch{op: "add"}`) into maps: the
 * types only say where in the object a literal stands, which the literal's place says already.
 */
export function withoutTypes(expression: string): string {
  let out = '';
  let position = 0;
  // For each open brace, whether it is a typed literal, whose keys are field names.
  const open: { char: string; typed: boolean }[] = [];
  while (position < expression.length) {
    const rest = expression.slice(position);
    const [literal] = stringLiteral.exec(rest) ?? [];
    if (literal !== undefined) {
      out += literal;
      position += literal.length;
      continue;
    }
    const [type] = typeName.exec(rest) ?? [];
    if (type !== undefined && !/[\w.]$/.test(out)) {
      out += '{';
      open.push({ char: '{', typed: true });
      position += type.length;
      continue;
    }
    const [field, optional, name] = fieldName.exec(rest) ?? [];
    const inner = open[open.length - 1];
    if (field !== undefined && inner?.typed && /[{,]\s*$/.test(out)) {
      out += `${optional ?? ''}"${name ?? ''}":`;
      position += field.length;
      continue;
    }
    const char = expression[position] ?? '';
    if ('{[('.includes(char)) open.push({ char, typed: false });
    else if ('}])'.includes(char)) open.pop();
    out += char;
    position++;
  }
  return out;
}

const stringLiteral = /^(?:"""[^]*?"""|'''[^]*?'''|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')/;
const typeName = /^(?:Object(?:\.\w+)*|JSONPatch)\s*\{/;
const fieldName = /^(\??)(\w+)\s*:/;
