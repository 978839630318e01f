import { useNavigate } from '@tanstack/react-router'
import { useEffect } from 'react'
import { places } from './places.ts'
import type { Reference } from './read-openapi.ts'

/** Follows links to anchors of the viewer that was at `/docs` before, such as `#tag/todo/POST/todo/{todo_id}`. */
export function useOldAnchor(reference: Reference | undefined): void {
  const navigate = useNavigate()
  useEffect(() => {
    const [, method, path] = /\btag\/[^/]+\/(GET|POST|PUT|PATCH|DELETE)(\/.*)$/i.exec(location.hash) ?? []
    if (reference === undefined || method === undefined || path === undefined) return
    const wanted = `${method.toUpperCase()} ${path.replaceAll(/\{(\w+)\}/g, ':$1')}`
    const found = reference.groups
      .flatMap(({ operations }) => operations)
      .find((one) => `${one.method} ${one.path}` === wanted)
    if (found !== undefined) void navigate({ to: places.operation, params: { operation: found.id }, replace: true })
  }, [reference])
}
