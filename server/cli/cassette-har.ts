/** `sluice cassette export` and `import`: recordings to and from HTTP Archives. */
import { stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Command } from 'commander';
import { counted } from '../contract/counted.ts';
import { describeFileProblem } from '../files/file-problem.ts';
import { CliError } from './exit-codes.ts';
import { createOutput } from './output.ts';
import type { Terminal } from './terminal.ts';

export function addCassetteHarVerbs(cassette: Command, terminal: Terminal): void {
  const output = createOutput(terminal, false);
  cassette
    .command('export')
    .argument('<folder>', 'the cassette')
    .argument('<file>', 'the HTTP Archive to write')
    .description('write the recordings of a cassette to an HTTP Archive (HAR)')
    .action(async (folder: string, file: string) => {
      const count = await exportHar(folder, file);
      output.note(`Exported ${counted(count, 'recording')} to ${file}.`);
    });
  cassette
    .command('import')
    .argument('<file>', 'an HTTP Archive (HAR) that a browser or a proxy has written')
    .argument('<folder>', 'the cassette, which is created if it is missing')
    .description('add the requests of an HTTP Archive to a cassette, without their secrets')
    .action(async (file: string, folder: string) => {
      const { importHar } = await import('../cassettes/import-har.ts');
      const { imported, skipped } = await importHar(file, folder);
      const rest =
        skipped > 0 ? `; ${skipped} skipped, as Sluice does not serve them or the archive has not all of them` : '';
      output.note(`Imported ${counted(imported, 'recording')} to ${folder}${rest}.`);
    });
}

/** Resolves with the number of recordings. */
async function exportHar(folder: string, file: string): Promise<number> {
  const { listRecordings, readRecording } = await import('../cassettes/cassette-files.ts');
  const { toHar } = await import('../cassettes/har.ts');
  const names = await listRecordings(folder);
  const exchanges = [];
  for (const name of names) {
    const { mtime: date } = await stat(join(folder, name));
    exchanges.push({ exchange: await readRecording(folder, name), date });
  }
  await writeFile(file, `${JSON.stringify(toHar(exchanges), null, 2)}\n`).catch((error: unknown) => {
    throw new CliError(`${file} cannot be written: ${describeFileProblem(error)}.`);
  });
  return names.length;
}
