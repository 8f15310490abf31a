import { expect, it } from 'vitest';
import { presetLetters } from '../../../../../renderer/views/providers/adding/provider-letters.ts';
import { presets } from '../../../../../server/providers/presets.ts';

it('each preset but the custom one has a mark of its own', () => {
  const ids = presets.map(({ id }) => id).filter((id) => id !== 'custom');
  const letters = Map.groupBy(ids, presetLetters);
  expect([...letters].filter(([, alike]) => alike.length > 1)).toEqual([]);
});

it('the services of China are among the presets', () => {
  const services = ['moonshot', 'zhipu', 'dashscope', 'siliconflow', 'volcengine', 'minimax', 'qianfan', 'hunyuan'];
  expect(presets.map(({ id }) => id)).toEqual(expect.arrayContaining(services));
});
