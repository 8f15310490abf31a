/**
 * Qwen Code asks the address that `modelProviders` gives for a model, before those of arguments and environment. Tried
 * with 0.15.
 */
import { contrary, findOptions, type PreparedProgram, type ProgramContext, refuseOptions } from './program-context.ts';
import { systemSettings } from './settings-files.ts';

const program = 'Qwen Code';
const settings = {
  program,
  client: 'qwen-code',
  variable: 'QWEN_CODE_SYSTEM_SETTINGS_PATH',
  signIn: 'openai',
  name: 'qwen-code.json',
};

const ownAddress = ['--openai-base-url', '--openaiBaseUrl', '--openai-api-key', '--openaiApiKey', '--proxy'];

/**
 * It sends even requests to loopback addresses to a proxy, whatever NO_PROXY says. Variables that are not set are read
 * from the `.env` of a folder above.
 */
const switchedOff = { QWEN_OAUTH: '', HTTPS_PROXY: '', https_proxy: '', HTTP_PROXY: '', http_proxy: '' };

export async function prepareQwenCode(context: ProgramContext): Promise<PreparedProgram> {
  const { access, models, parameters } = context;
  refuseOptions(program, parameters, ownAddress);
  const signIn = findOptions(parameters, ['--auth-type', '--authType']).find(({ value }) => value !== 'openai');
  if (signIn) throw contrary(program, `${signIn.name} ${signIn.value}`);
  const names = new Set(access.model ? [access.model, ...models] : models);
  const entries = [...names].map((id) => ({ id, baseUrl: `${access.origin}/v1`, envKey: 'SLUICE_KEY' }));
  const file = await systemSettings(context, settings, (system) => ({
    ...system,
    modelProviders: { openai: entries },
    proxy: '',
  }));
  return { parameters, env: switchedOff, file };
}
