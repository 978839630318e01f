import type { ReactNode } from 'react'

/** What a select box shows in a dialog at 400 percent. */
const maxShown = 26

/** Returns the end of what a select box says about the chosen name: all of it if the box may cut it off. */
export function describeName(name: string, description?: string): ReactNode {
  if (name.length <= maxShown) return description
  return (
    <>
      <code className="whole-name" translate="no">
        {name}
      </code>
      {description === undefined ? null : ` – ${description}`}
    </>
  )
}
