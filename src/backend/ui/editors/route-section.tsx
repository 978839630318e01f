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

/** The pointers of a key on the path and on the groups around it, from which a method can get it; the innermost first. */
export function placesOfShared(key: string, path: string, served: ServedMethod): readonly string[] {
  return [path, ...(served?.groups ?? [])].map((one) => `${pointerOf('routes', one)}/${key}`)
}

/** Returns the path or group whose value of a key the methods of the path get; the path if none has it. */
export function ownerOf(
  edit: DraftEdit,
  key: string,
  { path, served }: { path: string; served: ServedMethod },
): string {
  const owners = [path, ...(served?.groups ?? [])]
  return owners.find((one) => edit.get(`${pointerOf('routes', one)}/${key}`) !== undefined) ?? path
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
