import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '../api/call.ts'
import { describeProblem } from '../components/problem.tsx'
import type { TablePlace } from './row-values.ts'
import { rowTexts as texts } from './row-texts.ts'

interface RowCountProps {
  readonly place: TablePlace
  readonly filter: string | undefined
}

/** Counts the rows that the filters find, but only if someone asks: that reads all of them. */
export function RowCount({ place, filter }: RowCountProps) {
  const [isAsked, setAsked] = useState(false)
  const { data, error, isFetching } = useQuery({
    queryKey: ['rows', place.connection, place.table, 'count', filter],
    queryFn: ({ signal }) =>
      call(
        'GET /table/:connection/:table/count',
        { params: { ...place }, query: filter === undefined ? {} : { filter } },
        signal,
      ),
    enabled: isAsked,
    retry: false,
  })
  if (data !== undefined || error !== null)
    return (
      <p role="status" className="rows-count">
        {data === undefined ? describeProblem(error).message : texts.counted(data.count)}
      </p>
    )
  return (
    <Button variant="subtle" color="gray" loading={isFetching} onClick={() => setAsked(true)}>
      {texts.count}
    </Button>
  )
}
