import type { ReactNode } from 'react'
import type { ResponseOf } from '../api/call.ts'
import type { DraftEdit } from '../edit/draft-edit.ts'
import { pointerOf } from '../edit/values.ts'

/** The method as it is served; undefined while it is not. */
export type ServedMethod = ResponseOf<'GET /release/:id/method'> | undefined

/** The places of a method in waypost.yml. */
export function placesOf(method: string, path: string) {
  const route = pointerOf('routes', path)
  return { route, method: `${route}${pointerOf('methods', method)}`, params: `${route}/path` }
}

/** What a section of the editor edits. */
export interface PartProps {
  readonly edit: DraftEdit
  readonly method: string
  readonly path: string
}

export function Section({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <section className="stack">
      <h2>{title}</h2>
      {children}
    </section>
  )
}
