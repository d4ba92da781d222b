import type { IWebSignIn } from "@oauth-helper/client/web";

/** The part of the arguments of Remix and React Router that is used. */
interface IArguments {
  readonly request: Request;
}

/**
 * Creates the functions of route modules: export `loader` as `login` of
 * `app/routes/login.ts` and so on, and `action` as `logout` of `app/routes/logout.ts`.
 * That of a page throws a redirect where the user has to sign in.
 */
export function createRoutes(signIn: IWebSignIn, resource: string) {
  return {
    login: ({ request }: IArguments) => signIn.login(request),
    callback: ({ request }: IArguments) => signIn.callback(request),
    logout: ({ request }: IArguments) => signIn.logout(request),
    async notes({ request }: IArguments): Promise<unknown> {
      const api = await signIn.apiOf(request);
      if (!api) throw await signIn.login(request);
      const response = await api(resource);
      const again = await signIn.loginFor(request, response);
      if (again) throw again;
      return await response.json();
    },
  };
}
