/** Programs from npm that tests run where they are installed. */
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { plainEnvironment } from './plain-environment.ts';

const searched = [
  ...(process.env.SLUICE_TEST_CLIENTS ? [join(process.env.SLUICE_TEST_CLIENTS, 'node_modules', '.bin')] : []),
  ...plainEnvironment.PATH.split(delimiter),
];

/** Its path: in the folder that SLUICE_TEST_CLIENTS names (`npm install --prefix FOLDER …`), or on the PATH; null if neither. */
export function findProgram(command: string): string | null {
  return searched.map((folder) => join(folder, command)).find(isExecutable) ?? null;
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
