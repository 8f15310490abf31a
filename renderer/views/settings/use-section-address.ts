import { useEffect, useRef, useState } from 'react';
import { useSearch } from 'wouter';
import { type SectionId, sectionIds, sectionOf } from '../../state/window/section-ids.ts';

export const sectionElementId = (id: SectionId) => `settings-${id}`;

/** Below the bar at the top of the window, in pixels. */
const readingLine = 120;

/** Events by which a person may scroll or change the page. */
const userEventTypes = ['wheel', 'touchmove', 'pointerdown', 'keydown'] as const;

interface SectionAddress {
  /** The section being read. */
  current: SectionId;
  /** The section in the address: `/settings?section=records`. */
  requested: SectionId | null;
  /** Scrolls the section into view and focuses it. */
  show(id: SectionId): void;
}

/** Tracks which section is being read and which one the address asks for. */
export function useSectionAddress(isReady: boolean): SectionAddress {
  const requested = sectionOf(new URLSearchParams(useSearch()).get('section'));
  const [current, setCurrent] = useState<SectionId>(requested ?? 'window');
  /**
   * The section last scrolled into view, until the person moves on. It is needed because a section near the end cannot
   * be scrolled to the top.
   */
  const pinned = useRef<SectionId | null>(null);
  useEffect(() => {
    const updateCurrent = () => {
      if (pinned.current === null) setCurrent(sectionInSight());
    };
    const unpin = () => {
      pinned.current = null;
    };
    // Sections above it may grow when their content has loaded.
    const resizeObserver = new ResizeObserver(() => {
      if (pinned.current !== null) document.getElementById(sectionElementId(pinned.current))?.scrollIntoView();
    });
    resizeObserver.observe(document.body);
    addEventListener('scroll', updateCurrent, { passive: true });
    for (const type of userEventTypes) addEventListener(type, unpin, { passive: true, capture: true });
    return () => {
      resizeObserver.disconnect();
      removeEventListener('scroll', updateCurrent);
      for (const type of userEventTypes) removeEventListener(type, unpin, { capture: true });
    };
  }, []);
  const scrollToSection = (id: SectionId) => {
    const element = document.getElementById(sectionElementId(id));
    if (!element) return;
    element.scrollIntoView();
    element.focus({ preventScroll: true });
    pinned.current = id;
    setCurrent(id);
  };
  const show = useRef(scrollToSection);
  show.current = scrollToSection;
  useEffect(() => {
    if (!isReady || requested === null) return;
    // After the heading has taken the focus.
    const frame = requestAnimationFrame(() => show.current(requested));
    return () => cancelAnimationFrame(frame);
  }, [isReady, requested]);
  return { current, requested, show: scrollToSection };
}

function sectionInSight(): SectionId {
  const shown = sectionIds.filter((id) => (document.getElementById(sectionElementId(id))?.offsetHeight ?? 0) > 0);
  const isAtEnd = innerHeight + scrollY >= document.documentElement.scrollHeight - 2;
  if (isAtEnd && scrollY > 0) return shown.at(-1) ?? 'window';
  const top = (id: SectionId) => document.getElementById(sectionElementId(id))?.getBoundingClientRect().top ?? 0;
  return shown.findLast((id) => top(id) <= readingLine) ?? shown[0] ?? 'window';
}
