import { EventEmitter } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { App } from 'electron';
import { describe, expect, it } from 'vitest';
import { receiveOpenRequests } from '../../electron/open-requests.ts';
import { createOpenedInbox } from '../../electron/opened-inbox.ts';
import type { CassetteContents } from '../../server/contract/cassette.ts';
import { GatewayError } from '../../server/contract/errors.ts';
import { checkout } from '../support/program.ts';
import { asEmitter } from './double/as-electron.ts';

/** What the system hands over to a program that was started with these arguments. */
function receive(argv: string[]) {
  const given: string[] = [];
  const emitter = new EventEmitter();
  const requests = receiveOpenRequests(asEmitter<App>(emitter), ['/opt/sluice', ...argv]);
  requests.deliverTo({
    openLink: (link) => void given.push(`link ${link}`),
    openFile: (path) => void given.push(`file ${path}`),
    take: async () => null,
  });
  return { given, emitter };
}

describe('what the system opens with Sluice', () => {
  it('is a document of a type that the installer registers, by its path or URL', () => {
    const { fileAssociations } = JSON.parse(readFileSync(join(checkout, 'build/electron-builder.json'), 'utf8'));
    const extensions = fileAssociations.map(({ ext }: { ext: string }) => ext);
    expect(extensions).toEqual(['sluice-preset', 'sluice-cassette']);
    for (const extension of extensions) {
      const path = `/home/me/my team.${extension}`;
      expect(receive([path]).given).toEqual([`file ${path}`]);
      expect(receive([pathToFileURL(path).href]).given).toEqual([`file ${path}`]);
    }
  });

  it('is looked for in the folder where a second instance was started', () => {
    const { given, emitter } = receive([]);
    emitter.emit('second-instance', {}, ['/opt/sluice', '--flag', 'team.json'], '/home/me', null);
    emitter.emit('second-instance', {}, ['/opt/sluice', 'sluice://requests/req_1'], '/home/me', null);
    expect(given).toEqual(['file /home/me/team.json', 'link sluice://requests/req_1']);
  });

  it('is nothing else of the command line', () => {
    const others = [
      '--config=/x/team.json',
      '-team.json',
      '/etc/passwd',
      'https://a.example/team.json.exe',
      'file://[',
      '.',
      '',
    ];
    expect(receive(others).given).toEqual([]);
    // The program's own path comes first.
    expect(receiveOpenRequests(asEmitter<App>(new EventEmitter()), ['/opt/sluice.json'])).toBeDefined();
  });
});

describe('the inbox', () => {
  const contents: CassetteContents = { folder: '/x', recordings: [], total: 0 };

  function create(readCassette: (path: string) => Promise<CassetteContents | null>) {
    const told: string[] = [];
    const inbox = createOpenedInbox({
      show: (path) => void told.push(`show ${path}`),
      announce: () => void told.push('announce'),
      readCassette,
    });
    return { inbox, told };
  }

  it('shows the screen of a link, and holds what has none of its own', async () => {
    const { inbox, told } = create(async () => null);
    inbox.openLink('sluice://requests/req_1');
    expect(await inbox.take()).toBeNull();
    inbox.openLink('sluice://requests/req_1?key=x');
    expect(await inbox.take()).toEqual({ kind: 'refused', reason: 'secret' });
    expect(await inbox.take()).toBeNull();
    inbox.openFile('/no/such/file.json');
    expect(await inbox.take()).toEqual({ kind: 'text', fileName: 'file.json', text: null });
    expect(told).toEqual(['show /requests/req_1', ...['show undefined', 'announce', 'show undefined', 'announce']]);
  });

  it('keeps a file while the gateway is off, and hands it over once it is on', async () => {
    let isOn = false;
    const { inbox } = create(async () => {
      if (isOn) return contents;
      throw new GatewayError('shutting_down', 'The gateway is off.');
    });
    inbox.openFile('/x/0001-chat-3f2a9c.json');
    await expect(inbox.take()).rejects.toThrow('The gateway is off.');
    isOn = true;
    expect(await inbox.take()).toEqual({ kind: 'cassette', cassette: contents });
    expect(await inbox.take()).toBeNull();
  });
});
