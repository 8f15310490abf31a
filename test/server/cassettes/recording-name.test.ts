import { expect, test } from 'vitest';
import { folderOfTest, isTestFolder } from '../../../server/cassettes/cassette-files.ts';

test.each([
  ['test_weather', 'test_weather'],
  ['tests/test_a.py::test_x[rain]', /^tests-test_a-py-test_x-rain-[0-9a-f]{6}$/],
  ['Weather > rains', /^weather-rains-[0-9a-f]{6}$/],
  ['../../etc', /^etc-[0-9a-f]{6}$/],
  ['..', /^[0-9a-f]{6}$/],
  ['con', /^con-[0-9a-f]{6}$/],
  ['雨', /^[0-9a-f]{6}$/],
  ['-'.repeat(16_000), /^[0-9a-f]{6}$/],
  ['a'.repeat(16_000), /^a{80}-[0-9a-f]{6}$/],
])('the recordings of the test %s lie in a folder of its own', (name, folder) => {
  const made = folderOfTest(name);
  expect(made).toMatch(folder instanceof RegExp ? folder : new RegExp(`^${folder}$`));
  expect(isTestFolder(made)).toBe(true);
});

test('tests whose names differ have different folders, also where letters of both cases are one', () => {
  const names = ['rain', 'Rain', 'rain ', 'rain/', 'ra-in', 'ra in', 'ra.in', 'ra--in', 'rain-'];
  expect(new Set(names.map(folderOfTest)).size).toBe(names.length);
});
