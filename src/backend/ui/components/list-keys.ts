import type { KeyboardEvent } from 'react'
import { makeStore } from '../session/store.ts'

const storageKey = 'waypost-shortcuts'

/** Whether single keys do something in lists. Users of speech input must be able to turn that off (WCAG 2.1.4). */
export const shortcutStore = makeStore(readChoice() !== 'off')

/** Remembers the choice in this browser. */
export function setShortcuts(isOn: boolean): void {
  shortcutStore.set(isOn)
  try {
    localStorage.setItem(storageKey, isOn ? 'on' : 'off')
  } catch {
    // storage is disabled: the choice lasts until the page is closed
  }
}

function readChoice(): string | null {
  try {
    return localStorage.getItem(storageKey)
  } catch {
    return null
  }
}

const keys: Readonly<Record<string, RowKey>> = { ArrowDown: 1, ArrowUp: -1, Home: 'first', End: 'last' }
const letters: Readonly<Record<string, RowKey>> = { j: 1, k: -1, a: 'actions', '/': 'search' }
type RowKey = 1 | -1 | 'first' | 'last' | 'actions' | 'search'

/**
 * Keys in a list: arrows, Home and End move between rows, also from the search field into the list. In a row, J and K do
 * the same, A opens its actions and / goes to the search field.
 */
export function onListKey(event: KeyboardEvent<HTMLElement>): void {
  const list = event.currentTarget
  const target = event.target as HTMLElement
  // Keys in menus and dialogs of the list arrive here too.
  if (event.ctrlKey || event.metaKey || event.altKey || !list.contains(target)) return
  const rows = [...list.querySelectorAll<HTMLElement>('tbody tr')].filter((row) => findControl(row) !== null)
  const at = rows.findIndex((row) => row.contains(target))
  const search = list.querySelector<HTMLElement>('input[type="search"]')
  const key = keys[event.key] ?? (shortcutStore.get() ? letters[event.key] : undefined)
  if (key === undefined || (at === -1 && !(target === search && event.key === 'ArrowDown'))) return
  event.preventDefault()
  if (key === 'actions') return rows[at]!.querySelector<HTMLElement>('.table-actions button')?.click()
  const next = key === 'first' ? 0 : key === 'last' ? rows.length - 1 : key === 'search' ? -1 : at + key
  const control = next < 0 ? search : rows[next] && findControl(rows[next])
  return control?.focus()
}

function findControl(row: HTMLElement): HTMLElement | null {
  return row.querySelector<HTMLElement>('a, button')
}
