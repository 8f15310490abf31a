import { expect, it } from 'vitest';
import { providerLetters } from '../../../../../renderer/views/providers/adding/provider-letters.ts';
import { presets } from '../../../../../server/providers/presets.ts';

it('each preset but the custom one has a mark of its own', () => {
  const ids = presets.map(({ id }) => id).filter((id) => id !== 'custom');
  expect(Object.keys(providerLetters).toSorted()).toEqual(ids.toSorted());
  expect(new Set(Object.values(providerLetters)).size).toBe(ids.length);
});

it('the services of China are among the presets', () => {
  const services = ['moonshot', 'zhipu', 'dashscope', 'siliconflow', 'volcengine', 'minimax', 'qianfan', 'hunyuan'];
  expect(presets.map(({ id }) => id)).toEqual(expect.arrayContaining(services));
});
