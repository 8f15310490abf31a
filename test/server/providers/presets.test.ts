import { describe, expect, test } from 'vitest';
import { providerSchema } from '../../../server/contract/config.ts';
import { presetSchema } from '../../../server/contract/preset.ts';
import { presets } from '../../../server/providers/presets.ts';

describe.each(presets.map((preset) => [preset.id, preset] as const))('preset %s', (_id, preset) => {
  test('has the shape of a preset', () => {
    expect(presetSchema.parse(preset)).toEqual(preset);
  });

  test('makes a provider that the configuration takes', () => {
    const { id, name, dialect, models, askUsage } = preset;
    const baseUrl = preset.baseUrl.replace(/\{\w+\}/g, 'filled-in');
    expect(providerSchema.parse({ id, name, preset: id, dialect, baseUrl, models, askUsage }).baseUrl).toBe(baseUrl);
  });

  test('is on loopback, on its usual port, exactly if it is local', () => {
    expect(new URL(preset.baseUrl.replace(/\{\w+\}/g, 'x')).hostname === '127.0.0.1').toBe(preset.isLocal);
    for (const port of preset.ports) expect(preset.baseUrl).toContain(`:${port}/`);
    expect(preset.ports.length > 0).toBe(preset.isLocal);
  });
});

test('every id is there once', () => {
  expect(new Set(presets.map(({ id }) => id)).size).toBe(presets.length);
});

test('every service with a credential says where it is got and under which name people keep it', () => {
  for (const preset of presets) {
    if (preset.isLocal || !preset.needsCredential) continue;
    expect(preset.keyPage).not.toBeNull();
    expect(preset.environment.length).toBeGreaterThan(0);
  }
});

test('the services of China are among the presets', () => {
  const services = ['moonshot', 'zhipu', 'dashscope', 'siliconflow', 'volcengine', 'minimax', 'qianfan', 'hunyuan'];
  expect(presets.map(({ id }) => id)).toEqual(expect.arrayContaining(services));
});
