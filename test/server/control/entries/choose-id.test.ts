import { describe, expect, test } from 'vitest';
import { idSchema } from '../../../../server/contract/config.ts';
import { chooseId } from '../../../../server/control/entries/change-list.ts';

describe('an id', () => {
  test.each([
    [['My Laptop'], 'my-laptop'],
    [['Büro & Co.'], 'buro-co'],
    [['  --x--  '], 'x'],
    [['日本語', 'openai'], 'openai'],
    [[undefined, 'api.example.com:8080'], 'api-example-com-8080'],
    [[undefined, '  '], 'key-1'],
    [['我的密钥'], 'key-1'],
    [['x'.repeat(300)], 'x'.repeat(56)],
    [[`${'x'.repeat(55)} y`], 'x'.repeat(55)],
  ])('is made of %j', (names, expected) => {
    const id = chooseId(undefined, names, [], 'key-');
    expect(id).toBe(expected);
    expect(idSchema.safeParse(id).success).toBe(true);
  });

  test('gets a number where it is taken, and still fits', () => {
    const long = 'x'.repeat(60);
    const first = chooseId(undefined, [long], [], 'key-');
    const second = chooseId(undefined, [long], [first], 'key-');
    const third = chooseId(undefined, [long], [first, second], 'key-');
    expect([second, third]).toEqual([`${first}-2`, `${first}-3`]);
    expect(idSchema.safeParse(third).success).toBe(true);
  });
});
