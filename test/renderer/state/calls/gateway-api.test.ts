import { describe, expect, it } from 'vitest';
import { errorMessageOf } from '../../../../renderer/state/calls/gateway-api.ts';

describe('the message of an error', () => {
  it.each([
    ['{"error":{"message":"No."}}', 'No.'],
    ['{"detail":"other"}', '{"detail":"other"}'],
    ['<html>', '<html>'],
  ])('of %s is %s', (text, message) => {
    expect(errorMessageOf(text)).toBe(message);
  });
});
