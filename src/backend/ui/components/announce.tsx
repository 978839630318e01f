import { useEffect } from 'react'
import { makeStore, useStore } from '../session/store.ts'

const message = makeStore<{ readonly text: string; readonly at: number } | undefined>(undefined)
const shownMs = 5000

/** Tells users, also those of screen readers, that something was done: "Saved 12:04". */
export function announce(text: string): void {
  message.set({ text, at: Date.now() })
}

/** The live region of `announce`. */
export function Announcer() {
  const current = useStore(message)
  useEffect(() => {
    if (current === undefined) return undefined
    const timer = setTimeout(() => message.set(undefined), shownMs)
    return () => clearTimeout(timer)
  }, [current])
  return (
    <div role="status" aria-live="polite" className="announcer">
      {current === undefined ? null : <p dir="auto">{current.text}</p>}
    </div>
  )
}
