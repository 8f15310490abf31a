import { writeFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { checkConfig, summarizeProblems } from '../config/check-config.ts';
import { parseJson } from '../config/parse-json.ts';
import type { Config } from '../contract/config.ts';
import { GatewayError } from '../contract/errors.ts';
import { describeFileProblem } from '../files/file-problem.ts';
import { CliError } from './exit-codes.ts';
import { readInput } from './read-input.ts';
import type { Verbs } from './verb.ts';

export function addTransferVerbs(program: Command, { on }: Verbs): void {
  const exporting = program
    .command('export')
    .argument('[file]', 'the file to write (default: stdout)')
    .description('export the configuration, with references and hashes instead of secrets');
  on(exporting, async ({ control, output }, [file]) => {
    const { config } = await control.query({ type: 'config' });
    const json = JSON.stringify(config, null, 2);
    if (file === undefined) return output.show(config, json);
    await writeText(file, `${json}\n`);
    output.show({ file }, `Written to ${file}.`);
  });

  const importing = program
    .command('import')
    .argument('<file>', 'an exported configuration; "-" reads stdin')
    .description(
      'replace the whole configuration; stored secrets stay with providers and keys of the same id and address',
    );
  on(importing, async ({ control, output, terminal }, [file = '-']) => {
    const config = parseConfig(await readInput(file, terminal));
    const result = await control.execute({ type: 'config.import', config });
    const missing = result.missingSecrets.map((name) => `  ${name}`);
    const note = missing.length > 0 ? `\nThese credentials must be entered again:` : '';
    output.show(result, [`The configuration is imported.${note}`, ...missing].join('\n'));
  });
}

async function writeText(file: string, text: string): Promise<void> {
  try {
    await writeFile(file, text, { mode: 0o600 });
  } catch (error) {
    throw new CliError(`${file} cannot be written: ${describeFileProblem(error)}.`);
  }
}

function parseConfig(json: string): Config {
  const checked = checkConfig(parse(json));
  if (checked.kind === 'good') return checked.config;
  const reason = checked.kind === 'too-new' ? checked.message : summarizeProblems(checked.problems);
  throw new GatewayError('invalid_value', `This configuration cannot be used: ${reason}.`);
}

function parse(json: string): unknown {
  try {
    return parseJson(json);
  } catch (error) {
    throw new GatewayError('invalid_value', `This is not a configuration: ${describeFileProblem(error)}.`);
  }
}
