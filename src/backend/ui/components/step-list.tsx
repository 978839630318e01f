import type { ResponseOf } from '../api/call.ts'
import { buildTexts } from './definition-texts.ts'

type Method = ResponseOf<'GET /release/:id/method'>

/** The route steps of a method in their order, and those of groups that it leaves out. */
export function StepList({ steps, without }: Pick<Method, 'steps' | 'without'>) {
  return (
    <ol className="users">
      {steps.map(({ name, action }) => (
        <li key={name}>
          <bdi translate="no" className="strong">
            {name}
          </bdi>{' '}
          <bdi translate="no" className="mono">
            {action}
          </bdi>
        </li>
      ))}
      {without.map((name) => (
        <li key={name} className="soft">
          {buildTexts.withoutStep} <bdi translate="no">{name}</bdi>
        </li>
      ))}
    </ol>
  )
}
