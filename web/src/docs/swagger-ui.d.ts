/** What the reference uses of Swagger UI's bundle, which has no types of its own. */
declare module "swagger-ui-dist/swagger-ui-es-bundle.js" {
  export type ReferenceRequest = { headers: Record<string, string> };
  const SwaggerUI: (options: {
    dom_id: string;
    url: string;
    requestInterceptor: (request: ReferenceRequest) => ReferenceRequest;
    [option: string]: unknown;
  }) => void;
  export default SwaggerUI;
}
