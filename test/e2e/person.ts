/** A person's actions in the window, which wait for their effects. */
import type { Locator, Page } from 'playwright-core';
import { expect } from 'vitest';

/** The visible part of a switch; the input itself has no size. */
export function trackOf(power: Locator): Locator {
  return power.locator('xpath=following-sibling::span');
}

/** Clicks, and waits until the engine confirms the change. */
export async function setSwitch(power: Locator, isOn: boolean): Promise<void> {
  await expect.poll(() => power.isChecked()).toBe(!isOn);
  await trackOf(power).click();
  await expect.poll(() => power.isChecked()).toBe(isOn);
  await expect.poll(() => power.getAttribute('aria-busy')).toBe('false');
}

export async function expectFocus(target: Locator): Promise<void> {
  await expect.poll(() => hasFocus(target)).toBe(true);
}

function hasFocus(target: Locator): Promise<boolean> {
  return target.evaluate((element) => element === document.activeElement);
}

export async function tabTo(page: Page, target: Locator): Promise<void> {
  await target.waitFor({ state: 'attached' });
  for (let presses = 0; presses < 80; presses++) {
    if (await hasFocus(target)) return;
    await page.keyboard.press('Tab');
  }
  throw new Error('Tab does not reach it');
}

/** Expands a collapsed part of a form. */
export async function unfold(page: Page, title: string): Promise<void> {
  const toggle = page.getByRole('button', { name: title, exact: true });
  await toggle.click();
  await expect.poll(() => toggle.getAttribute('aria-expanded')).toBe('true');
}

/** Lifts an item of a sortable list; the list announces this once it is ready for the next keys. */
export async function liftByKeyboard(page: Page, name: string, place: number): Promise<void> {
  const handle = page.getByRole('button', { name: `Move ${name}` });
  // A dialog takes the focus one turn of the event loop after it is shown. No person types that fast.
  await expect.poll(() => isWhereTheFocusIs(handle)).toBe(true);
  await handle.focus();
  await page.keyboard.press('Space');
  await page.getByText(`${name} is at position ${place}.`).waitFor({ state: 'attached' });
  // The list handles further keys one timer turn after the announcement. No person types that fast.
  await page.evaluate(() => new Promise<void>((resolve) => setTimeout(resolve)));
}

function isWhereTheFocusIs(target: Locator): Promise<boolean> {
  return target.evaluate((element) => element.closest('[role="dialog"]')?.contains(document.activeElement) ?? true);
}
