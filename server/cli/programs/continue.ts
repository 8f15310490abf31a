/**
 * Continue's `cn` asks only the models of its configuration: the person's own, with Sluice's models in place of theirs.
 * It prefers variables of the environment to those of its `.env` files. Source: src/configLoader.ts and
 * CLIPlatformClient.ts of @continuedev/cli; tried with 1.5.
 */
import { join } from 'node:path';
import { yamlFormat } from '../../connect/yaml-format.ts';
import { type PreparedProgram, type ProgramContext, refuseOptions } from './program-context.ts';
import { readProgramSettings } from './settings-files.ts';

export async function prepareContinue(context: ProgramContext): Promise<PreparedProgram> {
  const { access, models, parameters, present, home } = context;
  refuseOptions('Continue', parameters, ['--config', '--model', '--agent']);
  const path = join(present.CONTINUE_GLOBAL_DIR || join(home, '.continue'), 'config.yaml');
  // Its request options may name a proxy.
  const { models: _models, requestOptions: _options, ...rest } = await readProgramSettings(context, path, yamlFormat);
  const first = access.model ?? (await context.usualModel());
  const entries = [first, ...models.filter((name) => name !== first)].map((name) => ({
    name,
    provider: 'openai',
    model: name,
    apiBase: `${access.origin}/v1`,
    // Resolved by Continue, so that the file contains no secret.
    apiKey: `\${{ secrets.SLUICE_KEY }}`,
    roles: ['chat', 'edit', 'apply'],
  }));
  const settings = { name: 'Sluice', version: '0.0.1', schema: 'v1', ...rest, models: entries };
  return {
    parameters,
    env: {},
    file: { name: 'continue.yaml', text: JSON.stringify(settings), by: { option: '--config' } },
  };
}
