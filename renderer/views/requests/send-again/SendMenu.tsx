import { Button, Menu } from '@mantine/core';
import {
  IconBrandNodejs,
  IconBrandPython,
  IconChevronDown,
  IconColumns,
  IconEdit,
  IconPlayerPlay,
  IconRefresh,
  IconTerminal2,
} from '@tabler/icons-react';
import { useMemo, useState } from 'react';
import { useLocation } from 'wouter';
import type { RequestInFull } from '../../../../server/contract/request-views.ts';
import { type SentRequest, sentRequestOf } from '../../../../server/contract/sent-request.ts';
import { writeToClipboard } from '../../../components/copying/CopyButton.tsx';
import { useMessages } from '../../../messages/use-messages.ts';
import { parseSentRequest } from '../../../state/chat/read-sent.ts';
import { useControlState } from '../../../state/control/use-control.ts';
import { announce } from '../../../state/window/announcement.ts';
import { nodeOf } from './code/node.ts';
import { pythonOf } from './code/python.ts';
import { curlOf, hasSdk, type SnippetCall } from './code/sdk-call.ts';
import { SendDialog, type SendMode } from './SendDialog.tsx';

interface SendMenuProps {
  full: RequestInFull;
  dialog: SendMode | null;
  onDialog(mode: SendMode | null): void;
}

/** Actions on a request: send it again, edit it first, continue in the playground, or copy it as a program. */
export function SendMenu({ full, dialog, onDialog }: SendMenuProps) {
  const { inspector: names, playground } = useMessages();
  const [, navigate] = useLocation();
  const original = useMemo(() => sentRequestOf(full), [full]);
  const [isMenuOpen, setMenuOpen] = useState(false);
  // A body may be long, so it is read only when the menu opens.
  const inPlayground = useMemo(() => (isMenuOpen ? parseSentRequest(original) : null), [isMenuOpen, original]);
  const snippet = useSnippet(original);
  const copy = async (text: string | null) => {
    const isCopied = text !== null && (await writeToClipboard(text));
    announce(isCopied ? names.snippetCopied : names.snippetNotCopied);
  };
  return (
    <>
      <Menu position="bottom-end" width={240} transitionProps={{ duration: 0 }} onChange={setMenuOpen}>
        <Menu.Target>
          <Button
            size="compact-sm"
            variant="light"
            leftSection={<IconRefresh size={14} aria-hidden />}
            rightSection={<IconChevronDown size={14} aria-hidden />}
          >
            {names.sendAgain}
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item leftSection={<IconRefresh size={14} aria-hidden />} onClick={() => onDialog('again')}>
            {names.asItWas}
          </Menu.Item>
          <Menu.Item leftSection={<IconEdit size={14} aria-hidden />} onClick={() => onDialog('edit')}>
            {names.editAndSend}
          </Menu.Item>
          <Menu.Item leftSection={<IconColumns size={14} aria-hidden />} onClick={() => onDialog('compare')}>
            {names.compare.open}
          </Menu.Item>
          <Menu.Item
            leftSection={<IconPlayerPlay size={14} aria-hidden />}
            disabled={inPlayground?.kind !== 'chat'}
            onClick={() => navigate(`/playground?from=${encodeURIComponent(full.request.id)}`)}
          >
            {names.inPlayground}
          </Menu.Item>
          {inPlayground && inPlayground.kind !== 'chat' && (
            <Menu.Label>{playground.fromNothing[inPlayground.kind]}</Menu.Label>
          )}
          <Menu.Divider />
          {programs.map(({ name, Icon, write, needsSdk }) => (
            <Menu.Item
              key={name}
              leftSection={<Icon size={14} aria-hidden />}
              disabled={snippet === null || (needsSdk && !hasSdk(snippet))}
              onClick={() => snippet && void copy(write(snippet))}
            >
              {names.copyAs(name)}
            </Menu.Item>
          ))}
        </Menu.Dropdown>
      </Menu>
      <SendDialog mode={dialog} original={original} full={full} onClose={() => onDialog(null)} />
    </>
  );
}

const programs = [
  { name: 'curl', Icon: IconTerminal2, write: curlOf, needsSdk: false },
  { name: 'Python', Icon: IconBrandPython, write: pythonOf, needsSdk: true },
  { name: 'Node', Icon: IconBrandNodejs, write: nodeOf, needsSdk: true },
];

/** Null if the request was not kept, or the gateway has no address. */
function useSnippet(original: SentRequest): SnippetCall | null {
  const { keyPlaceholder } = useMessages().requests;
  const baseUrl = useControlState((state) => state.views?.status.baseUrl ?? null);
  return useMemo(() => {
    if (original.kind === 'missing' || baseUrl === null) return null;
    const { method, path, headers, body } = original;
    return { method, path, headers, body, origin: new URL(baseUrl).origin, keyPlaceholder };
  }, [original, baseUrl, keyPlaceholder]);
}
