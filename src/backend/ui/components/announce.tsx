import { useEffect } from 'react'
import { makeStore, useStore } from '../session/store.ts'
import { useIsEnlarged } from './use-is-enlarged.ts'

const message = makeStore<{ readonly text: string; readonly at: number } | undefined>(undefined)
const shownMs = 5000
/** With the next key or click after this time, it has been read. */
const readMs = 1000

/** Tells users, also those of screen readers, that something was done: "Saved 12:04". */
export function announce(text: string): void {
  message.set({ text, at: Date.now() })
}

/** The live region of `announce`. Where it covers much of the page, it goes as soon as the user goes on. */
export function Announcer() {
  const current = useStore(message)
  const isEnlarged = useIsEnlarged()
  useEffect(() => {
    if (current === undefined) return undefined
    const hide = () => message.set(undefined)
    const goOn = () => Date.now() > current.at + readMs && hide()
    const timer = setTimeout(hide, shownMs)
    const events = isEnlarged ? ['keydown', 'pointerdown'] : []
    for (const event of events) document.addEventListener(event, goOn)
    return () => {
      clearTimeout(timer)
      for (const event of events) document.removeEventListener(event, goOn)
    }
  }, [current, isEnlarged])
  return (
    <div role="status" aria-live="polite" className="announcer">
      {current === undefined ? null : <p dir="auto">{current.text}</p>}
    </div>
  )
}
