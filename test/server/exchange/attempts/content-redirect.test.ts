import { describe, expect, test } from 'vitest';
import { contentLocation, withoutSignature } from '../../../../server/exchange/attempts/content-redirect.ts';

const provider = 'http://127.0.0.1:8080';
const from = new URL('/v1/videos/video_1/content', provider);

describe('a redirect of video content', () => {
  test.each([
    ['https://storage.example/film.mp4?sig=a%2Fb', 'https://storage.example/film.mp4?sig=a%2Fb'],
    ['/files/film.mp4', `${provider}/files/film.mp4`],
    ['film.mp4', `${provider}/v1/videos/video_1/film.mp4`],
    [`${provider}/x`, `${provider}/x`],
  ])('to %s is followed', (location, wanted) => {
    expect(contentLocation(location, from, provider)?.href).toBe(wanted);
  });

  test.each([
    'http://storage.example/film.mp4',
    'http://127.0.0.1:8081/x',
    'http://169.254.169.254/latest/meta-data',
    'http://localhost:8080/x',
    '//storage.example/film.mp4',
    'https://user:pass@storage.example/film.mp4',
    'https://user@storage.example/film.mp4',
    'file:///etc/passwd',
    'data:video/mp4,x',
    'ftp://storage.example/x',
    'https://',
  ])('to %s is not followed', (location) => {
    expect(contentLocation(location, from, provider)).toBeNull();
  });

  test('of a storage on https stays on https', () => {
    const storage = new URL('https://storage.example/a/b');
    expect(contentLocation('//other.example/x', storage, provider)?.href).toBe('https://other.example/x');
    expect(contentLocation('http://storage.example/x', storage, provider)).toBeNull();
  });
});

test.each([
  ['https://storage.example/film.mp4?sig=1#x', 'https://storage.example/film.mp4'],
  ['https://user:pass@storage.example/x', 'https://storage.example/x'],
  ['/a/b?c', '/a/b'],
  [`/${'x'.repeat(500)}`, `/${'x'.repeat(199)}`],
])('%.40s is told as %.40s', (location, told) => expect(withoutSignature(location)).toBe(told));
