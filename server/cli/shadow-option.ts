import { InvalidArgumentError } from 'commander';
import type { GroupConfig } from '../contract/config.ts';

export const shadowHelp = 'target=groq/openai/gpt-oss-120b,share=10%,usd=1';

export type ShadowChoice = NonNullable<GroupConfig['shadow']> | 'off';

/**
 * The option `--shadow`: `off`, or target, share (0.1 or 10%) and US dollars per day. Never null, which Commander takes
 * for a missing value.
 * @throws InvalidArgumentError
 */
export function parseShadow(text: string): ShadowChoice {
  if (text === 'off') return 'off';
  const settings = new Map(text.split(',').map(settingOf));
  const [target = '', share, usd] = [settings.get('target'), settings.get('share'), settings.get('usd')];
  const [, number, percent] = /^(\d+(?:\.\d+)?)(%)?$/.exec(share ?? '') ?? [];
  const part = percent ? Number(number) / 100 : Number(number);
  const dailyUsd = /^\d+(\.\d+)?$/.test(usd ?? '') ? Number(usd) : 0;
  if (settings.size !== 3 || target === '' || !(part >= 0 && part <= 1) || !(dailyUsd > 0)) throw wrong();
  return { target, share: part, dailyUsd };
}

function settingOf(text: string): [string, string] {
  const [, name = '', value = ''] = /^(target|share|usd)=(.+)$/.exec(text) ?? [];
  if (name === '') throw wrong();
  return [name, value];
}

function wrong(): InvalidArgumentError {
  return new InvalidArgumentError(`Use "off", or all of ${shadowHelp} (usd: dollars a day).`);
}
