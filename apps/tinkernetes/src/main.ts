import { usage, UsageError } from '@tinkernetes/component-base';
import { commands } from './commands';

function help(): string {
  const rows = commands.map((c) => `  ${`${c.name} ${c.args ?? ''}`.padEnd(20)} ${c.summary}`);
  return `Tinkernetes: a Kubernetes that you can read, take apart and watch.\n\nUsage:\n  tinkernetes COMMAND [flags]\n\nCommands:\n${rows.join('\n')}\n\nUse "tinkernetes COMMAND --help" for a command's flags.\n`;
}

async function main(argv: readonly string[]): Promise<void> {
  const [name, ...rest] = argv;
  if (name === undefined || name === 'help' || name === '--help' || name === '-h') {
    process.stdout.write(help());
    return;
  }
  const command = commands.find((c) => c.name === name);
  if (!command)
    throw new UsageError(`unknown command "${name}". Commands: ${commands.map((c) => c.name).join(', ')}`);
  if (rest.includes('--help')) {
    process.stdout.write(
      usage(
        `tinkernetes ${command.name}${command.args ? ` ${command.args}` : ''}`,
        command.summary,
        command.flags,
      ),
    );
    return;
  }
  await command.run(rest);
}

main(process.argv.slice(2)).catch((error: unknown) => {
  const wrongUse = error instanceof UsageError;
  process.stderr.write(`tinkernetes: ${error instanceof Error ? error.message : String(error)}\n`);
  if (!wrongUse && error instanceof Error && process.env.TINKERNETES_DEBUG)
    process.stderr.write(`${error.stack}\n`);
  process.exitCode = wrongUse ? 2 : 1;
});
