import { Tabs } from '@mantine/core';
import { type ReactNode, useEffect } from 'react';
import type { RequestInFull } from '../../../../server/contract/request-views.ts';
import { loadCodeView } from '../../../components/body/BodyView.tsx';
import { RecentNote } from '../../../components/recent/RecentNote.tsx';
import { useLocalization } from '../../../messages/use-messages.ts';
import { CaptureAbsent } from '../body/CaptureAbsent.tsx';
import { ConversationTab } from '../body/ConversationTab.tsx';
import { MessageTab } from '../body/MessageTab.tsx';
import { Attempts } from '../facts/Attempts.tsx';
import { Summary } from '../facts/Summary.tsx';
import { Timeline } from '../facts/Timeline.tsx';
import { FailureNote } from './FailureNote.tsx';
import classes from './RequestPanel.module.css';
import { type TabName, tabNames, useTab } from './use-tab.ts';

/** The failure first, then everything known about the request, in tabs. */
export function RequestDetail({ full }: { full: RequestInFull }) {
  const { messages, formats } = useLocalization();
  const names = messages.inspector;
  const attempts = full.request.attempts.length;
  const hasBodies = full.capture !== null;
  const [tab, choose] = useTab(hasBodies);
  useEffect(() => {
    // If this fails, the code view is fetched with the first body.
    if (hasBodies) loadCodeView().catch(() => {});
  }, [hasBodies]);
  const isTab = (value: string | null): value is TabName => tabNames.some((name) => name === value);
  return (
    <div className={classes.detail}>
      <FailureNote request={full.request} />
      <Tabs value={tab} onChange={(value) => isTab(value) && choose(value)} keepMounted={false}>
        <Tabs.List className={classes.tabs}>
          {tabNames.map((name) => (
            <Tabs.Tab key={name} value={name}>
              {names.tabs[name]}
              {name === 'attempts' && attempts > 1 && (
                <span className={classes.count}> {formats.number(attempts)}</span>
              )}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Tabs.Panel value={tab} className={classes.tabPanel}>
          {full.isRecent && tab !== 'summary' && tab !== 'timeline' && <RecentNote />}
          <TabContent tab={tab} full={full} />
        </Tabs.Panel>
      </Tabs>
    </div>
  );
}

function TabContent({ tab, full }: { tab: TabName; full: RequestInFull }): ReactNode {
  const { inspector: names } = useLocalization().messages;
  const { request, capture, captureAbsence } = full;
  if (tab === 'summary') return <Summary request={full.request} />;
  if (tab === 'timeline') return <Timeline full={full} />;
  if (tab === 'attempts') {
    return (
      <>
        <Attempts attempts={request.attempts} captured={capture?.attempts ?? []} />
        {!capture && <CaptureAbsent request={request} absence={captureAbsence} />}
      </>
    );
  }
  if (!capture) return <CaptureAbsent request={request} absence={captureAbsence} />;
  if (tab === 'conversation') return <ConversationTab capture={capture} />;
  if (tab === 'request') {
    const { method, url } = capture.request;
    return (
      <MessageTab
        message={capture.request}
        names={{ headers: names.requestHeaders, body: names.requestBody }}
        line={url && `${method} ${url}`}
      />
    );
  }
  const { status } = capture.response;
  return (
    <MessageTab
      message={capture.response}
      names={{ headers: names.responseHeaders, body: names.responseBody }}
      line={status === null ? null : String(status)}
    />
  );
}
