import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'

interface EmptyStateProps {
  readonly title: string
  /** Whether it is instead of a page, not of a list. */
  readonly isPage?: boolean
  /** Why there is nothing here, and what to do next. */
  readonly text?: ReactNode
  /** A button that does it. */
  readonly action?: ReactNode
  readonly link?: { readonly to: string; readonly label: string }
}

/** What a page shows instead of an empty list. */
export function EmptyState({ title, isPage = false, text, action, link }: EmptyStateProps) {
  return (
    <div className="empty">
      {isPage ? <h1>{title}</h1> : <h2>{title}</h2>}
      {text === undefined ? null : <p className="soft">{text}</p>}
      {action}
      {link === undefined ? null : <Link to={link.to}>{link.label}</Link>}
    </div>
  )
}
