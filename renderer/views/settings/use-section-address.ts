import { useEffect, useRef, useState } from 'react';
import { useSearch } from 'wouter';
import { type SectionId, sectionIds, sectionOf } from './settings-sections.ts';

export const sectionElementId = (id: SectionId) => `settings-${id}`;

/** Below the bar at the top of the window, in pixels. */
const readingLine = 120;

/** Events by which a person may scroll or change the page. */
const actsOfPerson = ['wheel', 'touchmove', 'pointerdown', 'keydown'] as const;

interface SectionAddress {
  /** The section being read. */
  current: SectionId;
  /** The section in the address: `/settings?section=records`. */
  asked: SectionId | null;
  /** Scrolls the section into view and focuses it. */
  show(id: SectionId): void;
}

/** Tracks which section is being read and which one the address asks for. */
export function useSectionAddress(isReady: boolean): SectionAddress {
  const asked = sectionOf(new URLSearchParams(useSearch()).get('section'));
  const [current, setCurrent] = useState<SectionId>(asked ?? 'window');
  /**
   * The section last scrolled into view, until the person moves on. It is needed because a section near the end cannot
   * be scrolled to the top.
   */
  const held = useRef<SectionId | null>(null);
  useEffect(() => {
    const note = () => {
      if (held.current === null) setCurrent(sectionInSight());
    };
    const letGo = () => {
      held.current = null;
    };
    // Sections above it may grow when their content has loaded.
    const growth = new ResizeObserver(() => {
      if (held.current !== null) document.getElementById(sectionElementId(held.current))?.scrollIntoView();
    });
    growth.observe(document.body);
    addEventListener('scroll', note, { passive: true });
    for (const act of actsOfPerson) addEventListener(act, letGo, { passive: true, capture: true });
    return () => {
      growth.disconnect();
      removeEventListener('scroll', note);
      for (const act of actsOfPerson) removeEventListener(act, letGo, { capture: true });
    };
  }, []);
  const bringUp = (id: SectionId) => {
    const element = document.getElementById(sectionElementId(id));
    if (!element) return;
    element.scrollIntoView();
    element.focus({ preventScroll: true });
    held.current = id;
    setCurrent(id);
  };
  const show = useRef(bringUp);
  show.current = bringUp;
  useEffect(() => {
    if (!isReady || asked === null) return;
    // After the heading has taken the focus.
    const frame = requestAnimationFrame(() => show.current(asked));
    return () => cancelAnimationFrame(frame);
  }, [isReady, asked]);
  return { current, asked, show: bringUp };
}

function sectionInSight(): SectionId {
  const shown = sectionIds.filter((id) => (document.getElementById(sectionElementId(id))?.offsetHeight ?? 0) > 0);
  const isAtEnd = innerHeight + scrollY >= document.documentElement.scrollHeight - 2;
  if (isAtEnd && scrollY > 0) return shown.at(-1) ?? 'window';
  const top = (id: SectionId) => document.getElementById(sectionElementId(id))?.getBoundingClientRect().top ?? 0;
  return shown.findLast((id) => top(id) <= readingLine) ?? shown[0] ?? 'window';
}
