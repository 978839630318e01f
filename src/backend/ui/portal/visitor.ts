import { leave } from '../session/session.ts'
import { makeStore } from '../session/store.ts'

/** Why the last attempt to sign in failed. */
export const startProblem = makeStore<
  { readonly error?: string; readonly message: string; readonly hint?: string } | undefined
>(undefined)

const storageKey = 'waypost-portal-visitor'

/** Whether this browser was signed in before, so that trying to sign in silently is worth the redirect. */
export function isExpected(): boolean {
  return localStorage.getItem(storageKey) !== null
}

/** Remembers only whether someone was signed in: pages of user routes on the same origin can read it. */
export function rememberVisitor(isSignedIn: boolean): void {
  if (isSignedIn) localStorage.setItem(storageKey, 'yes')
  else localStorage.removeItem(storageKey)
}

/** Leaves for the login page and comes back to this page. */
export function signIn(): void {
  void leave('')
}

/** Leaves for the page that creates an account and comes back to this page. */
export function register(): void {
  void leave('', { isNew: true })
}
