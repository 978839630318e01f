import { Link } from '@tanstack/react-router'

/** The first characters of a release's id, as commands print them, with a link to its page. */
export function ReleaseLink({ id }: { readonly id: string }) {
  return (
    <Link translate="no" to="/releases/$id" params={{ id }} className="mono">
      {shortId(id)}
    </Link>
  )
}

export function shortId(id: string): string {
  return id.slice(0, 8)
}
