import type { Action, Request } from 'waypost'

export default class Hello implements Action<'GET /hello/:name'> {
  handle({ params }: Request<'GET /hello/:name'>) {
    return { hello: params.name }
  }
}
