import { Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { definitionQuery, type Definition } from '../api/definition.ts'
import { loadingErrorOf } from '../api/send.ts'
import { EmptyState } from './empty-state.tsx'
import { ProblemAlert } from './problem.tsx'
import { problemTexts } from './problem-texts.ts'

interface DefinitionPageProps<Part> {
  /** Finds what the page is about by the parameter `name` of its path. */
  find(definition: Definition, name: string): Part | undefined
  /** What the page says if there is none. */
  readonly notFound: string
  render(part: Part, definition: Definition): ReactNode
}

/** The page of one part of the definition. */
export function DefinitionPage<Part>({ find, notFound, render }: DefinitionPageProps<Part>) {
  const { name = '' } = useParams({ strict: false })
  const { data, error, refetch } = useQuery(definitionQuery)
  const failure = loadingErrorOf({ data, error })
  if (failure !== undefined) return <ProblemAlert error={failure} onRetry={() => void refetch()} />
  if (data === undefined) return <Skeleton height={160} />
  const part = find(data, name)
  if (part === undefined) return <EmptyState title={problemTexts.notFound} text={notFound} />
  return <>{render(part, data)}</>
}
